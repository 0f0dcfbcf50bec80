"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

{% include "sorting.js" %}
  all(".sortable table").forEach(makeSortable);

  // Filters: with no name pressed, everything is shown.
  const groups = Object.fromEntries(all("fieldset[data-filter]").map((set) => [set.dataset.filter, set]));
  const names = (what) => all("button", groups[what]).map((button) => button.dataset.name);
  const pressed = (what) => all('button[aria-pressed="true"]', groups[what]).map((button) => button.dataset.name);
  const filterNames = { dataset: new Set(names("dataset")), method: new Set(names("method")) };
  const apply = () => {
    const selected = { dataset: pressed("dataset"), learner: pressed("learner"), method: pressed("method") };
    const out = (what, name) => selected[what].length > 0 && !selected[what].includes(name);
    for (const row of all(".sortable tbody tr")) {
      const { method, learner } = row.dataset;
      row.classList.toggle("out", (method !== undefined && out("method", method)) || (learner !== undefined ? out("learner", learner) : method !== undefined && selected.learner.length > 0));
    }
    for (const cell of all(".sortable [data-column]")) {
      const name = cell.dataset.column;
      cell.classList.toggle("out", (filterNames.dataset.has(name) && out("dataset", name)) || (filterNames.method.has(name) && out("method", name)));
    }
    for (const mark of all("[data-series-method]")) {
      const { seriesMethod, seriesLearner } = mark.dataset;
      mark.classList.toggle("out", out("method", seriesMethod) || (selected.learner.length > 0 && !selected.learner.includes(seriesLearner)));
    }
    for (const figure of all("figure")) {
      const marks = all("[data-series-method]", figure);
      const empty = marks.length > 0 && marks.every((mark) => mark.classList.contains("out"));
      figure.classList.toggle("out", empty || (figure.dataset.dataset !== "" && out("dataset", figure.dataset.dataset)));
    }
    for (const table of all(".sortable")) {
      const body = all("tbody tr", table);
      table.classList.toggle("out", body.length > 0 && body.every((row) => row.classList.contains("out")));
    }
    const chosen = Object.values(selected).flat();
    document.getElementById("shown").textContent = chosen.length ? `shown: ${chosen.join(", ")}` : "";
  };
  for (const button of all("fieldset button")) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      apply();
    });
  }
  document.getElementById("all").addEventListener("click", () => {
    all("fieldset button").forEach((button) => button.setAttribute("aria-pressed", "false"));
    apply();
  });
  document.getElementById("filters").hidden = false;
  const isOut = ({ method, learner }) => {
    const selected = { method: pressed("method"), learner: pressed("learner") };
    return (selected.method.length > 0 && method !== "" && !selected.method.includes(method)) || (selected.learner.length > 0 && !selected.learner.includes(learner));
  };

  const linked = () => decodeURIComponent(location.hash.slice(1));
{% include "folds.js" %}

{% include "hints.js" %}

{% include "plot_values.js" %}

{% include "theme.js" %}
})();
