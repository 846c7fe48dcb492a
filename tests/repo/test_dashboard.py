"""The history page: the drawn series are read back from it, from its text and from a browser's screen."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from benches.goals.measurements import Corpus, Goal, Growth, Machine, Measurements, Series
from benches.report import charts, page, records
from benches.report.dashboard import main
from benches.report.records import Record
from tests.support import chromium

MACHINE = Machine("Abacus 9", 4, "Linux", "3.13.1", "rustc 1.95.0", "0.1.0", "0123456789abcdef", "")


def series(
    name: str, value: float, *, unit: str = "MB/s", group: Any = "parse", better: Any = "bigger"
) -> Series:
    return Series(
        name, unit, better, value, value * 0.9, value * 0.95, 5, f"± {value / 20:.3g}", group, "made up"
    )


def made_up(n: int, parse: float, **machine: Any) -> Record:
    """Record `n`; `parse` is how fast we were."""
    date = f"2026-0{1 + n % 9}-1{n % 10}T08:00:00+00:00"
    rows = [
        series("retell_fast.parse classic 150 MB / throughput", parse),
        series("retell_fast.parse chat 150 MB / throughput", parse / 2),
        series("json classic 150 MB / throughput", 300.0 + n, group="peers"),
        series("wc -l classic 150 MB / throughput", 7900.0, group="peers"),
        series("peak memory, classic 150 MB", 38.5, unit="MiB", group="memory", better="smaller"),
    ]
    goals = [
        Goal(
            "P1",
            "file to events, against wc -l",
            "<= 1.5",
            "<= 1.2",
            9000 / parse,
            "x",
            "met",
            {"wc -l": 23.7},
        ),
        Goal(
            "P10",
            "instructions <b>per</b> byte",
            "<= 1.6",
            "<= 1.2",
            None,
            "instructions/byte",
            "not measured",
        ),
    ]
    run = Measurements(
        replace(MACHINE, date=date, **machine),
        [Corpus("classic", 150, 1, "0" * 64)],
        rows,
        goals,
        [Growth(15, 0.0021, 12.5), Growth(150, 0.0205, 38.0), Growth(1500, 0.21, 96.0)],
    )
    return Record(f"{date[:10]}-made-up", run)


HISTORY = [made_up(n, parse) for n, parse in enumerate((4000.0, 6000.0, 5500.0, 7500.0))]


# ---------------------------------------------------------------- reading the drawing back


@dataclass
class Drawn:
    """One chart as it is seen: pixels, and the words beside them."""

    logarithmic: bool
    ticks: list[tuple[str, float]]
    series: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def values(self, name: str) -> list[float]:
        """What a person would read from the axis for each point of a series."""
        said = [(float(text.replace(",", "")), at) for text, at in self.ticks]
        (low, bottom), (high, top) = said[0], said[-1]
        values = []
        for _, y in self.series[name]:
            share = (y - bottom) / (top - bottom)
            values.append(low * (high / low) ** share if self.logarithmic else low + share * (high - low))
        return values


def drawn_in_text(text: str) -> dict[str, Drawn]:
    """All charts of a page, from its source."""
    charts_found = {}
    for figure in re.finditer(
        r'<figure class="card" data-chart="([^"]+)">.*?(<svg.*?</svg>)', text, re.DOTALL
    ):
        svg = ElementTree.fromstring(figure[2])  # noqa: S314  # written a moment ago
        ticks = [
            (t.text or "", float(t.get("data-y", "nan")))
            for t in svg.iter("text")
            if t.get("class") == "tick"
        ]
        chart = Drawn(svg.get("data-logarithmic") == "true", ticks)
        for line in svg.iter("g"):
            points = [(float(c.get("cx", "")), float(c.get("cy", ""))) for c in line.iter("circle")]
            chart.series[line.get("data-series", "")] = points
        charts_found[figure[1]] = chart
    return charts_found


ON_SCREEN = """
[...document.querySelectorAll("figure[data-chart]")].map((figure) => {
  const middle = (shape) => {
    const box = shape.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  const lines = [...figure.querySelectorAll("line.grid")];
  const words = [...figure.querySelectorAll(".tick")];
  return [figure.dataset.chart, {
    logarithmic: figure.querySelector("svg").dataset.logarithmic === "true",
    ticks: lines.map((line, n) => [words[n].textContent, middle(line)[1]]),
    series: Object.fromEntries([...figure.querySelectorAll("g.line")].map(
      (line) => [line.dataset.series, [...line.querySelectorAll("circle")].map(middle)])),
  }];
})
"""


def drawn_on_screen(opened: chromium.Page) -> dict[str, Drawn]:
    """All charts of a page, from where a browser put them."""
    return {key: Drawn(**chart) for key, chart in opened.evaluate(ON_SCREEN)}


def check_drawn(drawn: dict[str, Drawn], history: list[Record], exact: float) -> None:
    """Every series of the records is there, each value at its place on the axis, the newest on the right."""
    seen = {name: chart for chart in drawn.values() for name in chart.series}
    names = {row.name for record in history for row in record.run.series}
    assert names | {"seconds", "peak_mib"} == set(seen)
    for name in names:
        expected = [row.value for record in history for row in record.run.series if row.name == name]
        points = seen[name].series[name]
        assert seen[name].values(name) == pytest.approx(expected, rel=exact)
        across = [x for x, _ in points]
        assert across == sorted(across)
        assert len(set(across)) == len(across)
        # Whatever the axis says: up is more.
        assert sorted(range(len(points)), key=lambda n: -points[n][1]) == sorted(
            range(len(points)), key=lambda n: expected[n]
        )
    for key, expected in (("seconds", [0.0021, 0.0205, 0.21]), ("peak_mib", [12.5, 38.0, 96.0])):
        assert seen[key].values(key) == pytest.approx(expected, rel=exact)


# ---------------------------------------------------------------- without a browser


@pytest.mark.parametrize("count", [1, 2, 4])
def test_every_series_stands_where_its_values_belong(count: int) -> None:
    check_drawn(drawn_in_text(page.page(HISTORY[:count])), HISTORY[:count], exact=0.01)


def test_a_point_out_of_place_is_noticed() -> None:
    drawn = drawn_in_text(page.page(HISTORY))
    points = drawn["parse MB/s"].series["retell_fast.parse classic 150 MB / throughput"]
    points[2] = (points[2][0], points[2][1] - 8)
    with pytest.raises(AssertionError):
        check_drawn(drawn, HISTORY, exact=0.01)


def test_values_that_are_far_apart_get_a_logarithmic_axis() -> None:
    drawn = drawn_in_text(page.page(HISTORY))
    assert drawn["peers MB/s"].logarithmic
    assert not drawn["parse MB/s"].logarithmic


def test_records_of_two_machines_are_not_joined() -> None:
    moved = [*HISTORY[:2], *(made_up(n, 5000.0, cpu="Abacus 10") for n in (2, 3))]
    parse = next(chart for chart in charts.histories(moved) if chart.key == "parse MB/s")
    first, _ = parse.lines
    assert [path.count("L") for path in first.paths] == [1, 1]
    assert len(parse.breaks) == 1
    assert first.points[1].x < parse.breaks[0] < first.points[2].x


def test_a_crowded_chart_is_split_by_corpus() -> None:
    rows = [
        series(f"reader {reader} {profile} 150 MB / throughput", 100.0 * reader + len(profile), group="peers")
        for reader in range(1, 4)
        for profile in ("classic", "chat", "modern", "images")
    ]
    crowded = replace_series(HISTORY[0], rows)
    found = charts.histories([crowded])
    assert [len(chart.lines) for chart in found] == [3, 3, 3, 3]
    assert [chart.lines[0].colour for chart in found] == [0, 0, 0, 0], "one reader, one colour"


def replace_series(record: Record, rows: list[Series]) -> Record:
    return Record(record.name, replace(record.run, series=rows))


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("json, classic 150 MB / throughput", ("json", "classic 150 MB", "throughput")),
        ("wc -l codex-paginated 1.5 MB / seconds", ("wc -l", "codex-paginated 1.5 MB", "seconds")),
        ("retell_fast.parse, to a list, chat 15 MB", ("retell_fast.parse, to a list", "chat 15 MB", "")),
        (
            "folder of 20 sessions, 2 threads / throughput",
            ("folder of 20 sessions, 2 threads", "", "throughput"),
        ),
        ("import retell_fast", ("import retell_fast", "", "")),
    ],
)
def test_the_name_of_a_series_has_parts(name: str, parts: tuple[str, str, str]) -> None:
    named = records.Named.of(name)
    assert (named.side, named.corpus, named.measure) == parts


def test_many_records_leave_room_for_their_dates() -> None:
    many = [made_up(n % 9, 4000.0 + n) for n in range(40)]
    labels = charts.histories(many)[0].labels
    assert len(labels) <= 5
    assert labels[-1].text == many[-1].date
    assert min(b.x - a.x for a, b in itertools.pairwise(labels)) > 60


def test_a_change_says_its_direction_in_both_kinds_of_series() -> None:
    after = replace_series(
        made_up(4, 9000.0),
        [
            series("retell_fast.parse classic 150 MB / throughput", 9000.0),
            series("peak memory, classic 150 MB", 50.0, unit="MiB", group="memory", better="smaller"),
        ],
    )
    lines = {line.series: line for chart in charts.histories([*HISTORY, after]) for line in chart.lines}
    assert lines["retell_fast.parse classic 150 MB / throughput"].verdict == "better"
    assert lines["retell_fast.parse classic 150 MB / throughput"].change == "+20.0%"
    assert lines["peak memory, classic 150 MB"].verdict == "worse"


def test_text_from_a_record_is_text() -> None:
    text = page.page(HISTORY)
    assert "<b>per</b>" not in text
    assert "&lt;b&gt;per&lt;/b&gt;" in text


def test_the_table_of_goals_has_every_goal_and_its_verdict() -> None:
    text = page.page(HISTORY)
    rows = re.findall(r'<tr data-goal="(.*?)">.*?badge \w+">(.*?)<', text, re.DOTALL)
    assert rows == [("P1", "met"), ("P10", "not measured")]


def goal(id_: str, measured: float | None, wanted: str = "≤ 1.15") -> Goal:
    return Goal(id_, "against wc -l", wanted, "", measured, "x", "no goal" if not wanted else "met")


def test_a_goal_goes_on_where_it_was_measured_on_one_profile() -> None:
    old, new = (Record(record.name, replace(record.run, goals=[])) for record in HISTORY[:2])
    old.run.goals.append(goal("P1", 1.6, "≤ 1.5"))
    new.run.goals.extend([goal("P1 classic", 1.1), goal("P1 chat", 3.4)])
    sparks = [charts.spark(row, [old, new]) for row in new.run.goals]
    assert [[point.value for point in spark.points] for spark in sparks] == [[1.6, 1.1], [3.4]]


def test_a_row_without_a_goal_is_shown_without_one() -> None:
    told = Record("told", replace(HISTORY[0].run, goals=[goal("P3 codex", 7.5, "")]))
    spark = charts.spark(told.run.goals[0], [told])
    assert (spark.goal, spark.stretch) == (None, None)
    text = page.page([told])
    assert re.findall(r'<tr data-goal="(.*?)">.*?badge (\w+)">(.*?)<', text, re.DOTALL) == [
        ("P3 codex", "none", "no goal")
    ]


def test_the_number_of_a_goal_is_read_with_its_thousands() -> None:
    assert [charts.wanted(text) for text in ("≤ 1.5", "≥ 15,000", "")] == [1.5, 15_000, None]


def test_processor_time_has_charts_of_its_own() -> None:
    rows = [
        series("core, 1 thread, chat 150 MB / throughput", 900.0),
        series("core, 1 thread, chat 150 MB / processor time", 1.2, unit="CPU ms/MB", better="smaller"),
    ]
    found = charts.histories([replace_series(HISTORY[0], rows)])
    assert [chart.title for chart in found] == ["From a file to its conversation", "Processor time"]


def test_a_script_in_a_record_stays_data() -> None:
    evil = replace_series(HISTORY[0], [series("</script><script>alert(1)</script>", 1.0)])
    assert "<script>alert" not in page.page([evil])
    read = json.loads(page.data([evil]).removeprefix("window.RETELL_RECORDS = ").rstrip(";\n"))
    assert read[0]["series"][0]["name"].startswith("</script>")


def test_the_page_is_built_from_a_folder_of_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for record in HISTORY:
        records.keep(record.run, tmp_path / "record")
    assert main([str(tmp_path / "page"), "--records", str(tmp_path / "record")]) == 0
    assert "records: 4" in capsys.readouterr().out
    assert {path.name for path in (tmp_path / "page").iterdir()} == {"index.html", "data.js", "picture.svg"}


def test_no_records_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "page"), "--records", str(tmp_path)]) == 1
    assert "no records" in capsys.readouterr().err


# ---------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Chromium]:
    """A running Chromium; RETELL_REQUIRE_CHROMIUM=1 makes it an error that there is none."""
    program = chromium.found()
    if os.name == "nt" or program is None:
        reason = "no Chromium on the PATH or in RETELL_CHROMIUM" if os.name != "nt" else "needs POSIX pipes"
        if os.environ.get("RETELL_REQUIRE_CHROMIUM") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with chromium.Chromium(program, tmp_path_factory.mktemp("chromium")) as running:
        yield running


@pytest.fixture
def built(tmp_path: Path) -> str:
    page.build(HISTORY, tmp_path)
    return (tmp_path / "index.html").as_uri()


def test_a_browser_shows_every_series_where_it_belongs(browser: chromium.Chromium, built: str) -> None:
    check_drawn(drawn_on_screen(browser.open(built)), HISTORY, exact=0.02)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_has_nothing_to_complain_and_loads_nothing_from_elsewhere(
    browser: chromium.Chromium, built: str, scheme: str
) -> None:
    opened = browser.open(built, scheme=scheme)
    assert opened.complaints() == []
    assert {address.split(":")[0] for address in opened.requested()} <= {"file", "data"}
    loaded = [address.rsplit("/", 1)[-1] for address in opened.requested() if address.startswith("file:")]
    assert sorted(loaded) == ["data.js", "index.html", "picture.svg"]
    assert opened.evaluate("document.querySelector('#picture img').naturalWidth") > 0


def test_a_page_that_reaches_out_or_fails_is_noticed(browser: chromium.Chromium, tmp_path: Path) -> None:
    outside = "http://127.0.0.1:9/chart.js"
    (tmp_path / "bad.html").write_text(f"<script src='{outside}'></script><script>missing()</script>")
    opened = browser.open((tmp_path / "bad.html").as_uri())
    assert outside in opened.requested()
    assert opened.heard("Runtime.exceptionThrown")
    assert len(opened.complaints()) == 2


def test_the_two_schemes_differ(browser: chromium.Chromium, built: str) -> None:
    colours = {
        browser.open(built, scheme=scheme).evaluate("getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    }
    assert len(colours) == 2


def test_a_point_tells_of_itself(browser: chromium.Chromium, built: str) -> None:
    opened = browser.open(built)
    told = opened.evaluate(
        """(() => {
          document.querySelectorAll("figure[data-chart='parse MB/s'] g.line")[0]
            .querySelectorAll("circle")[3].focus();
          const told = document.getElementById("told");
          return told.hidden ? "" : told.textContent;
        })()"""
    )
    assert "retell_fast.parse classic 150 MB / throughput: 7,500 MB/s" in told
    assert "median 7,125" in told
    assert "Abacus 9" in told


@pytest.mark.parametrize("width", [360, 768, 1400])
def test_nothing_sticks_out_and_no_words_overlap(browser: chromium.Chromium, built: str, width: int) -> None:
    opened = browser.open(built, width=width)
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    overlaps = opened.evaluate(
        """[...document.querySelectorAll("svg.chart")].flatMap((chart) => {
          const words = [...chart.querySelectorAll("text")].map(
            (word) => [word.textContent, word.getBoundingClientRect()]);
          return words.flatMap(([a, p], n) => words.slice(n + 1).filter(([, q]) =>
            p.left < q.right && q.left < p.right && p.top + 1 < q.bottom && q.top + 1 < p.bottom,
          ).map(([b]) => `${a} / ${b}`));
        })"""
    )
    assert overlaps == []
