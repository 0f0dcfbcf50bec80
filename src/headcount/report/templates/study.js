"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Sorting: by the figure where a cell has one, else by its text; missing figures come last.
  const key = (row, column) => {
    const cell = row.children[column];
    if (cell.dataset.value !== undefined && cell.dataset.value !== "") return Number(cell.dataset.value);
    const text = cell.textContent.trim();
    return text === "–" ? null : text;
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  for (const table of all(".sortable table")) {
    const heads = all("thead th", table);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row) => [key(row, column), row]);
        rows.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : (down ? -1 : 1) * compare(a, b)));
        body.append(...rows.map(([, row]) => row));
      });
    });
  }

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

  // A click shows the files of a figure, for touch screens, which have no tooltips.
  const source = document.getElementById("source");
  for (const figure of all(".sortable td[title], li[data-source]:not([data-source=''])")) {
    figure.addEventListener("click", () => {
      source.textContent = `${figure.textContent.trim()}: ${figure.title}`;
      source.hidden = false;
    });
  }
  source.addEventListener("click", () => { source.hidden = true; });

  const theme = document.getElementById("theme");
  const order = ["", "light", "dark"];
  theme.addEventListener("click", () => {
    const next = order[(order.indexOf(document.documentElement.dataset.theme || "") + 1) % order.length];
    if (next) document.documentElement.dataset.theme = next;
    else delete document.documentElement.dataset.theme;
    theme.textContent = `Theme: ${next || "as the system"}`;
  });
  theme.hidden = false;
})();
