// The page is whole without this: it only tells more of the point that is pointed at.
(() => {
  const told = document.getElementById("told");

  const words = (series, record) => {
    const row = record.series.find((row) => row.name === series);
    const machine = record.machine;
    const number = (value) => Number(value.toPrecision(4)).toLocaleString("en");
    return [
      `${row.name}: ${number(row.value)} ${row.unit}`,
      `median ${number(row.median)}, ${row.range}, rounds: ${row.rounds}`,
      row.extra,
      `${machine.date.slice(0, 10)}, ${machine.commit.slice(0, 8)}`,
      machine.cpu,
    ].filter(Boolean).join("\n");
  };

  const tell = (circle) => {
    const history = circle.closest("#history");
    const series = circle.parentNode.dataset.series;
    told.textContent = history
      ? words(series, window.RETELL_RECORDS[circle.dataset.record])
      : circle.getAttribute("aria-label");
    told.hidden = false;
    const at = circle.getBoundingClientRect();
    const left = Math.min(at.left + 12, document.documentElement.clientWidth - told.offsetWidth - 8);
    told.style.left = `${Math.max(8, left) + window.scrollX}px`;
    const above = at.top - told.offsetHeight - 8;
    told.style.top = `${(above > 0 ? above : at.bottom + 8) + window.scrollY}px`;
  };

  for (const circle of document.querySelectorAll(".line circle")) {
    circle.addEventListener("pointerenter", () => tell(circle));
    circle.addEventListener("focus", () => tell(circle));
    circle.addEventListener("pointerleave", () => { told.hidden = true; });
    circle.addEventListener("blur", () => { told.hidden = true; });
  }

  for (const item of document.querySelectorAll(".legend li")) {
    const chart = item.closest("figure").querySelector("svg");
    const line = [...chart.querySelectorAll(".line")].find((line) => line.dataset.series === item.dataset.series);
    item.addEventListener("pointerenter", () => { chart.classList.add("some"); line.classList.add("shown"); });
    item.addEventListener("pointerleave", () => { chart.classList.remove("some"); line.classList.remove("shown"); });
  }
})();
