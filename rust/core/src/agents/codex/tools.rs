//! Tool calls and their results.

use memchr::memmem;

use crate::agents::Context;
use crate::agents::text::{spelled_out, string, target};
use crate::event::{
    GivenAnswers, InlineImage, LinkedBy, MetImage, Passed, Purpose, Question, Signal, SubagentCall, ToolCall, Usage,
};
use crate::images::images_in_text;
use crate::json::Value;

use super::body::{Body, called};
use super::{requests, words};

/// Calls that have no name of their own, and the tool that each calls.
const NAMELESS: [(&str, &str); 4] = [
    ("local_shell_call", "local_shell"),
    ("web_search_call", "web_search"),
    ("tool_search_call", "tool_search"),
    (GENERATION, "image_generation"),
];
const GENERATION: &str = "image_generation_call";

/// The tool that starts a subagent.
const SPAWN: &str = "spawn_agent";

/// The tool that asks the human, and the one that shows an image.
const ASK: &str = "request_user_input";
const VIEW: &str = "view_image";

/// How an encrypted prompt begins.
const ENCRYPTED: &str = "gAAAAA";

pub(super) fn is_call(kind: &str) -> bool {
    matches!(kind, "function_call" | "custom_tool_call") || NAMELESS.iter().any(|(call, _)| *call == kind)
}

/// The image that a string of base64 is; an empty string is none.
fn bare_image(base64: Option<Value<'_>>, context: &mut dyn Context) -> Vec<MetImage> {
    let base64 = base64.and_then(Value::raw_string).filter(|base64| !base64.is_empty());
    base64.and_then(|base64| context.keep(InlineImage { base64 })).into_iter().collect()
}

pub(super) fn read_call(kind: &str, body: &Body<'_, '_>, context: &mut dyn Context, say: &mut dyn FnMut(Signal)) {
    let nameless = NAMELESS.iter().find(|(call, _)| *call == kind).map(|(_, tool)| (*tool).to_owned());
    let plain = body.text("name");
    let name = nameless.unwrap_or_else(|| joined(&body.text("namespace"), &plain));
    if name.is_empty() {
        say(Signal::Passed(Passed::Plain));
        return;
    }
    let id = body.text("call_id");
    let id = if id.is_empty() { body.text("id") } else { id }.into_owned();
    let mut call = ToolCall { id: id.clone(), name, purpose: purpose(&plain, None), ..ToolCall::default() };
    if kind == "function_call" {
        spelled_out(body.get("arguments"), |arguments| {
            call.target = target(arguments);
            call.purpose = purpose(&plain, Some(arguments));
            if plain == SPAWN {
                call.subagent = Some(asked(arguments));
            }
        });
    }
    say(called(call));
    if kind == GENERATION {
        say_images(&id, bare_image(body.get("result"), context), say);
    }
}

/// The name by which the model knows a tool in a namespace.
fn joined(namespace: &str, name: &str) -> String {
    if namespace.is_empty() || name.is_empty() {
        return name.to_owned();
    }
    format!("{}__{}", namespace.trim_end_matches('_'), name.trim_start_matches('_'))
}

fn purpose(tool: &str, arguments: Option<Value<'_>>) -> Purpose {
    match tool {
        ASK => {
            let questions = arguments.and_then(|arguments| arguments.get("questions"));
            let question = |question: Value<'_>| Question {
                id: string(question.get("id")).into_owned(),
                text: string(question.get("question")).into_owned(),
            };
            Purpose::Ask(questions.into_iter().flat_map(Value::elements).map(question).collect())
        }
        VIEW => Purpose::View,
        _ => Purpose::Work,
    }
}

fn asked(arguments: Value<'_>) -> SubagentCall {
    let text = |name: &str| string(arguments.get(name)).into_owned();
    let prompt = text("message");
    let task = text("task_name");
    SubagentCall {
        description: if task.is_empty() { text("nickname") } else { task },
        prompt: if prompt.starts_with(ENCRYPTED) { String::new() } else { prompt },
        agent_type: text("agent_type"),
    }
}

fn say_images(call: &str, images: Vec<MetImage>, say: &mut dyn FnMut(Signal)) {
    if !images.is_empty() {
        say(Signal::ToolResult {
            call: call.to_owned(),
            images,
            agent: None,
            other_name: None,
            usage: Usage::default(),
        });
    }
}

/// What a tool gave back: images, which subagent was started, and what the human answered.
pub(super) fn read_output(body: &Body<'_, '_>, context: &mut dyn Context, say: &mut dyn FnMut(Signal)) {
    let call = body.text("call_id");
    let output = body.get("output").unwrap_or(Value::new(b"null"));
    let mut images = Vec::new();
    output_images(output, context, &mut images);
    if let Some(content) = output.is_object().then(|| output.get("content")).flatten() {
        output_images(content, context, &mut images);
    }
    let (agent, other_name) = if context.is_subagent_call(&call) { started_agent(output) } else { Default::default() };
    let answers = requests::given(output);
    if images.is_empty() && agent.is_none() && other_name.is_none() {
        if answers.is_none() {
            say(Signal::Passed(Passed::Plain));
        }
    } else {
        let agent = agent.map(|id| (LinkedBy::Result, id));
        let call = call.clone().into_owned();
        say(Signal::ToolResult { call, images, agent, other_name, usage: Usage::default() });
    }
    if let Some(answers) = answers {
        say(Signal::Answers(GivenAnswers { call: call.into_owned(), ..answers }));
    }
}

/// Whether the rest of a record may be an output that holds answers, as far as its beginning tells: most outputs are
/// plain text, in which they need not be searched for.
pub(super) fn may_be_answers(rest: &[u8]) -> bool {
    /// As far as the program writes something else before the output.
    const BEGINNING: usize = 256;
    const PAYLOAD: &[u8] = b"\"payload\":{\"type\":\"";
    const OUTPUT: &[u8] = b"\"output\":\"";
    const LONGEST: usize = "custom_tool_call_output".len();
    let beginning = rest.get(..BEGINNING).unwrap_or(rest);
    let kind = memmem::find(beginning, PAYLOAD).map(|at| &beginning[at + PAYLOAD.len()..]);
    if kind.is_some_and(|kind| memmem::find(&kind[..kind.len().min(LONGEST)], b"_call_output").is_none()) {
        return false;
    }
    let Some(at) = memmem::find(beginning, OUTPUT) else { return true };
    // In an object before it the key would tell nothing.
    let is_outer = beginning.iter().take(at).filter(|&&byte| byte == b'{').count() <= 1;
    !is_outer || matches!(beginning.get(at + OUTPUT.len()), None | Some(b'{' | b'\\' | b' ' | 128..))
}

fn output_images(output: Value<'_>, context: &mut dyn Context, images: &mut Vec<MetImage>) {
    if let Some(text) = output.raw_string() {
        for image in images_in_text(text) {
            images.extend(context.keep(image));
        }
    }
    content_images(Some(output), context, images);
}

/// The images among the parts of a content list: data URIs, and those that MCP servers give.
fn content_images(content: Option<Value<'_>>, context: &mut dyn Context, images: &mut Vec<MetImage>) {
    for part in content.into_iter().flat_map(Value::elements).filter(|part| part.is_object()) {
        images.extend(part.get("image_url").and_then(|url| words::keep(url, context)));
        if string(part.get("type")) == "image" {
            images.extend(bare_image(part.get("data"), context));
        }
    }
}

/// The subagent that an output names: by its id, and by its path among the session's agents.
fn started_agent(output: Value<'_>) -> (Option<String>, Option<String>) {
    let spelled_out = output.text().map(|text| text.text.into_owned());
    let output = spelled_out.as_ref().map_or(output, |text| Value::new(text.trim().as_bytes()));
    let text = |name: &str| Some(string(output.get(name)).into_owned()).filter(|text| !text.is_empty());
    let id = text("agent_id");
    let path = text("task_name").filter(|_| id.is_none());
    (id, path)
}

/// A call of an MCP server's tool that has ended: the call, where no other record tells it, and its images.
pub(super) fn read_mcp_call(
    id: &str,
    server: &str,
    tool: &str,
    result: Option<Value<'_>>,
    context: &mut dyn Context,
    say: &mut dyn FnMut(Signal),
) {
    if !tool.is_empty() {
        let name = format!("mcp__{server}__{tool}");
        say(called(ToolCall { id: id.to_owned(), name, purpose: purpose(tool, None), ..ToolCall::default() }));
    }
    let ok = result.and_then(|result| result.get("Ok")).filter(|ok| ok.is_object()).or(result);
    let mut images = Vec::new();
    content_images(ok.and_then(|ok| ok.get("content")), context, &mut images);
    say_images(id, images, say);
}

/// An image that was generated.
pub(super) fn read_generated(
    id: &str,
    result: Option<Value<'_>>,
    context: &mut dyn Context,
    say: &mut dyn FnMut(Signal),
) {
    let images = bare_image(result, context);
    if images.is_empty() {
        say(Signal::Passed(Passed::Plain));
    }
    say_images(id, images, say);
}

/// A subagent works for a call.
pub(super) fn say_started(call: &str, agent: &str, say: &mut dyn FnMut(Signal)) {
    if call.is_empty() || agent.is_empty() {
        say(Signal::Passed(Passed::Plain));
    } else {
        say(Signal::Progress { call: call.to_owned(), agent: agent.to_owned() });
    }
}
