"""The history page and the README's picture: what is drawn is read back, from a browser too."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benches.goals.measurements import Corpus, Goal, Growth, Machine, Measurements, Series
from benches.report import charts, records
from benches.report.records import Record
from tests.support import chromium
from tests.support.checkout import ROOT

vl_convert = pytest.importorskip("vl_convert")
from benches.report import page, picture, publish  # noqa: E402 - they draw
from benches.report.dashboard import main  # noqa: E402 - likewise

MACHINE = Machine("Abacus 9", 4, "Linux", "3.13.1", "rustc 1.95.0", "0.1.0", "0123456789abcdef", "")


def series(
    name: str, value: float, *, unit: str = "MB/s", group: Any = "parse", better: Any = "bigger"
) -> Series:
    spread = f"± {value / 20:.3g}"
    return Series(name, unit, better, value, value * 0.9, value * 0.95, 5, spread, group, "made up")


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
    against = ("file to events, against wc -l", "≤ 1.5", "≤ 1.2")
    goals = [
        Goal("P1", *against, 9000 / parse, "x", "met", {"wc -l": 23.7}),
        Goal("P10", "instructions <b>per</b> byte", "≤ 1.6", "≤ 1.2", None, "instr/B", "not measured"),
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


def with_series(record: Record, *rows: Series) -> Record:
    return Record(record.name, replace(record.run, series=list(rows)))


def fields(labels: list[str]) -> list[dict[str, str]]:
    """What the drawn points and bars say of themselves to who cannot see them."""
    # A line says what its first point says.
    said = dict.fromkeys(html.unescape(label) for label in labels)
    told = [dict(part.partition(": ")[::2] for part in label.split("; ")) for label in said]
    return [each for each in told if {"series", "reader", "line"} & each.keys()]


def drawn(chart: dict[str, Any]) -> list[dict[str, str]]:
    return fields(re.findall(r'aria-label="([^"]*)"', vl_convert.vegalite_to_svg(chart)))


def check_points(found: list[dict[str, str]], history: list[Record]) -> None:
    """Every value of every record is drawn, in its column."""
    expected = {
        (row.name, f"{record.date} {record.commit}", row.value)
        for record in history
        for row in record.run.series
    }
    points = [point for point in found if "record" in point]
    assert {(point["series"], point["record"], float(point["value"])) for point in points} == expected


# ---------------------------------------------------------------- the page


@pytest.mark.parametrize("count", [1, 2, 4])
def test_every_value_is_drawn(count: int) -> None:
    found = charts.histories(HISTORY[:count])
    check_points([point for chart in found.values() for point in drawn(chart)], HISTORY[:count])


def test_a_value_that_is_not_drawn_is_noticed() -> None:
    found = [point for chart in charts.histories(HISTORY).values() for point in drawn(chart)]
    with pytest.raises(AssertionError):
        check_points(found[1:], HISTORY)


def test_there_is_one_chart_for_each_group_and_unit_ours_first() -> None:
    assert list(charts.histories(HISTORY)) == [
        "From a file to its conversation, MB/s",
        "Other readers of the same file, MB/s",
        "Memory, MiB",
    ]


def test_many_readers_have_a_drawing_for_each_corpus() -> None:
    rows = [
        series(f"reader {reader} {profile} 150 MB / throughput", 100.0 * reader + len(profile), group="peers")
        for reader in range(1, 4)
        for profile in ("classic", "chat", "modern", "images")
    ]
    crowded, lone = with_series(HISTORY[0], *rows), with_series(HISTORY[0], *rows[:4])
    assert ["facet" in chart for chart in charts.histories([crowded]).values()] == [True]
    assert ["facet" in chart for chart in charts.histories([lone]).values()] == [False]


def test_values_that_are_far_apart_get_a_logarithmic_axis() -> None:
    found = charts.histories(HISTORY)
    scales = [chart["encoding"]["y"]["scale"]["type"] for chart in found.values()]
    assert scales == ["linear", "log", "linear"]


def test_records_of_two_machines_are_not_joined() -> None:
    moved = [*HISTORY[:2], *(made_up(n, 5000.0, cpu="Abacus 10") for n in (2, 3))]
    chart = charts.histories(moved)["Memory, MiB"]
    assert {row["machine"] for row in chart["data"]["values"]} == {"Abacus 9, 4", "Abacus 10, 4"}
    paths = re.findall(r'<path aria-label="[^"]*"[^>]*d="(M[^"]*)"', vl_convert.vegalite_to_svg(chart))
    assert [path.count("L") for path in paths if "L" in path] == [1, 1]


def test_growth_stands_beside_growth_in_proportion() -> None:
    time, memory = (drawn(chart) for chart in charts.growth(HISTORY[0].run.growth).values())
    assert [float(point["seconds"]) for point in time if point["line"] == "measured"] == [
        0.0021,
        0.0205,
        0.21,
    ]
    proportion = [float(point["MiB"]) for point in memory if point["line"] == "in proportion"]
    assert proportion == [12.5, 125, 1250]


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


def test_the_table_of_goals_has_every_goal_and_its_verdict() -> None:
    text = page.page(HISTORY)
    rows = re.findall(r'<tr data-goal="(.*?)">.*?<td class="[\w-]+">([\w ]+)</td>\s*</tr>', text, re.DOTALL)
    assert rows == [("P1", "met"), ("P10", "not measured")]
    before, now = re.findall(r'<td class="number">(?:<b>)?([\d.]+)', text)[:2]
    assert (before, now) == ("1.64", "1.2")


def test_text_from_a_record_is_text() -> None:
    evil = with_series(HISTORY[0], series("</script><script>alert(1)</script>", 1.0))
    text = page.page([evil])
    assert "<script>alert" not in text
    assert "<b>per</b>" not in text
    assert "&lt;b&gt;per&lt;/b&gt;" in text


def test_the_page_is_built_from_a_folder_of_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for record in HISTORY:
        records.keep(record.run, tmp_path / "record")
    assert main([str(tmp_path / "page"), "--records", str(tmp_path / "record")]) == 0
    assert "records: 4" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "page").iterdir()] == ["index.html"]


def test_no_records_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "page"), "--records", str(tmp_path)]) == 1
    assert "no records" in capsys.readouterr().err


# ---------------------------------------------------------------- the picture

RUN = HISTORY[-1].run


def bars(run: Measurements) -> list[tuple[str, str, float]]:
    """Reader, kind and value of the bars, from above."""
    found = drawn(picture.specification(run))
    return [(bar["reader"], bar["kind"], float(bar["MB/s"])) for bar in found]


def test_the_picture_has_a_bar_for_each_reader_of_a_profile_the_fastest_first() -> None:
    assert bars(RUN) == [
        ("retell_fast.parse", "ours", 3750),
        ("wc -l", "floor", 7900),
        ("retell_fast.parse", "ours", 7500),
        ("json", "other", 303),
    ]


def test_of_each_profile_the_largest_size_with_something_to_compare_is_drawn() -> None:
    names = ["json chat 150 MB", "json chat 15 MB", "retell_fast.parse chat 15 MB", "json codex 15 MB"]
    run = replace(RUN, series=[series(f"{name} / throughput", 100.0, group="peers") for name in names])
    assert list(picture.readers(run)) == ["chat 15 MB", "codex 15 MB"]


def test_a_crowd_is_thinned_from_the_slow_end_and_we_stay() -> None:
    crowd = [series(f"reader {n} classic 150 MB / throughput", 1000.0 + n, group="peers") for n in range(30)]
    run = replace(RUN, series=[series("retell_fast.parse classic 150 MB / throughput", 1.0), *crowd])
    found = bars(run)
    assert len(found) == 12
    assert (found[0][0], found[-1][0]) == ("reader 29", "retell_fast.parse")
    assert "19 slower left out" in picture.picture(run)


def test_a_run_without_readers_has_a_picture_that_says_so() -> None:
    assert "compared no readers" in picture.picture(replace(RUN, series=[]))


def test_the_picture_loads_nothing() -> None:
    addresses = re.findall(r"(?:href|src|url)[=(]", picture.picture(RUN))
    assert addresses == []


def test_the_picture_beside_the_records_is_of_the_newest(tmp_path: Path) -> None:
    newer = replace(RUN, machine=replace(RUN.machine, date="2026-12-06T00:00:00+00:00"))
    records.keep(newer, tmp_path)
    publish.record(RUN, tmp_path)
    assert (tmp_path / publish.PICTURE).read_text(encoding="utf-8") == picture.picture(newer)


def test_the_readme_shows_the_picture_of_the_newest_record() -> None:
    shown = re.findall(r"!\[[^\]]+\]\((benches/[^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert shown == [f"benches/record/{publish.PICTURE}"]
    # Where a word ends depends on the fonts of the machine, what is said does not.
    kept = fields(re.findall(r'aria-label="([^"]*)"', (ROOT / shown[0]).read_text(encoding="utf-8")))
    assert kept == drawn(picture.specification(records.newest_last()[-1].run))


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_draws_all_loads_nothing_and_has_nothing_to_complain(
    browser: chromium.Chromium, scheme: str, tmp_path: Path
) -> None:
    page.build(HISTORY, tmp_path)
    address = (tmp_path / "index.html").as_uri()
    opened = browser.open(address, scheme=scheme, width=360)
    labels = opened.evaluate(
        "Promise.all(drawn).then(() => [...document.querySelectorAll('[data-chart] [aria-label]')]"
        ".map((shape) => shape.getAttribute('aria-label')))"
    )
    check_points(fields(labels), HISTORY)
    assert opened.complaints() == []
    assert {each for each in opened.requested() if not each.startswith("data:")} == {address}
    assert opened.evaluate("document.documentElement.scrollWidth") <= 360
    dark = opened.evaluate("getComputedStyle(document.body).color") == "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")


def test_a_page_that_reaches_out_or_fails_is_noticed(browser: chromium.Chromium, tmp_path: Path) -> None:
    outside = "http://127.0.0.1:9/chart.js"
    (tmp_path / "bad.html").write_text(f"<script src='{outside}'></script><script>missing()</script>")
    opened = browser.open((tmp_path / "bad.html").as_uri())
    assert outside in opened.requested()
    assert opened.heard("Runtime.exceptionThrown")
    assert len(opened.complaints()) == 2
