//! Words typed while the assistant worked, as part of a story.

use super::{QUEUED_IMAGE, Story, event_of, screenshots};
use crate::event::{Envelope, Queue, QueuedWords, Role, WordsSource};
use crate::queue::Outcome;

impl Story {
    /// Something happened to the queue.
    pub(super) fn queue_operation(&mut self, envelope: &Envelope, operation: Queue) {
        match operation {
            Queue::Enqueue(words) => self.queue.enqueue(words, &envelope.setting().session_id),
            Queue::Dequeue => self.queue.dequeue(),
            Queue::PopAll => self.queue.pop_all(),
            Queue::Remove(words) => {
                if let Some(words) = self.queue.remove(words, &envelope.setting().session_id) {
                    let (text, at) = (words.text.clone(), self.events.len());
                    self.queued_event(envelope, words);
                    if self.events.len() > at {
                        self.queue.became(&text, &envelope.setting().session_id, at);
                    }
                }
            }
            Queue::Delivered(words) => match self.queue.attachment(words, &envelope.setting().session_id) {
                Outcome::New(words) => self.queued_event(envelope, words),
                Outcome::Repeats(event, words) => {
                    // What a `remove` told first has no id, and may have been without its images.
                    if words.human {
                        let told = &mut self.events[event];
                        (told.uuid, told.place) = (envelope.uuid.clone(), envelope.place);
                        self.add_images(envelope, event, &words.images, QUEUED_IMAGE);
                    }
                }
                Outcome::Nothing => {}
            },
        }
    }

    fn queued_event(&mut self, envelope: &Envelope, words: QueuedWords) {
        let kept = self.kept(envelope, &words.images);
        if words.says.is_empty() && kept.is_empty() {
            return;
        }
        let mut event = event_of(envelope, Role::User);
        event.says = words.says;
        event.source = Some(WordsSource::Queued);
        event.screenshots = screenshots(&kept, QUEUED_IMAGE);
        self.shown.extend(kept.into_iter().map(|image| (self.events.len(), image)));
        self.push(event, words.lossy);
    }
}
