"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Sorting: by the figure where a cell has one, else by its text; missing figures come last.
  const key = (row, column) => {
    const cell = row.children[column];
    if (cell.dataset.value !== undefined && cell.dataset.value !== "") return Number(cell.dataset.value);
    const text = cell.firstChild ? cell.firstChild.textContent.trim() : "";
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

  // Folds: open on a wide screen, closed on a narrow one, where the page would be very long; a link opens what it leads to.
  const folds = all("details.fold");
  const narrow = window.matchMedia("(max-width: 40rem)");
  const fold = () => folds.forEach((part) => { part.open = !narrow.matches && !part.classList.contains("closed"); });
  const openTarget = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const first = target.matches("details.fold") ? target : target.querySelector("details.fold");
    for (let part = first; part; part = part.parentElement.closest("details.fold")) part.open = true;
    target.scrollIntoView();
  };
  fold();
  narrow.addEventListener("change", fold);
  window.addEventListener("hashchange", openTarget);
  openTarget();
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = folds.filter((part) => !part.open);
    closed.forEach((part) => { part.open = true; });
  });
  window.addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }));

  // The hint: one element that is placed beside what it is about, follows it when the page scrolls, and never leaves the window.
  const tip = document.getElementById("tip");
  let boxOfTip = null;
  const hideTip = () => { tip.hidden = true; boxOfTip = null; };
  const placeTip = () => {
    if (boxOfTip === null) return;
    const box = boxOfTip(), space = document.documentElement;
    if (box.bottom < 0 || box.top > space.clientHeight) { tip.hidden = true; return; }
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const x = Math.max(4, Math.min(box.left, space.clientWidth - width - 4));
    const below = box.bottom + 8;
    const y = below + height <= space.clientHeight ? below : Math.max(4, box.top - height - 8);
    tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  };
  const showTip = (text, box) => {
    if (tip.textContent !== text) tip.textContent = text;
    boxOfTip = box;
    placeTip();
  };
  // Moving the focus scrolls the page under a pointer that rests: only a pointer that moves takes the hint back.
  let byKeyboard = false;
  const rests = (event) => {
    if (event.movementX !== 0 || event.movementY !== 0) byKeyboard = false;
    return byKeyboard;
  };
  document.addEventListener("keydown", (event) => {
    byKeyboard = true;
    if (event.key === "Escape") hideTip();
  }, { capture: true });
  document.addEventListener("scroll", placeTip, { capture: true, passive: true });

  // Figures of tables: a hint on hover, tap and focus. One cell of a table is in the tab order; arrow keys move on from it.
  for (const table of all(".sortable table")) {
    const cells = all("td[title]", table);
    for (const cell of cells) {
      cell.dataset.hint = cell.title;
      cell.removeAttribute("title");
      cell.tabIndex = -1;
    }
    if (cells.length === 0) continue;
    cells[0].tabIndex = 0;
    table.setAttribute("role", "grid");
    const show = (event) => {
      const cell = event.target.closest("td[data-hint]");
      if (cell) showTip(cell.dataset.hint, () => cell.getBoundingClientRect());
      else hideTip();
    };
    table.addEventListener("mousemove", (event) => { if (!rests(event)) show(event); });
    table.addEventListener("mouseleave", (event) => { if (!rests(event)) hideTip(); });
    table.addEventListener("click", show);
    table.addEventListener("focusout", hideTip);
    table.addEventListener("focusin", (event) => {
      const cell = event.target.closest("td[data-hint]");
      if (!cell) return;
      cells.forEach((other) => { other.tabIndex = other === cell ? 0 : -1; });
      show(event);
    });
    const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    table.addEventListener("keydown", (event) => {
      const cell = event.target.closest("td[data-hint]");
      if (!cell || !(event.key in steps)) return;
      event.preventDefault();
      const [down, right] = steps[event.key];
      const rows = [...table.tBodies[0].rows].filter((row) => !row.classList.contains("out"));
      let row = rows.indexOf(cell.parentElement), column = cell.cellIndex;
      do {
        row += down;
        column += right;
        const next = rows[row] && rows[row].cells[column];
        if (!next) return;
        if (next.dataset.hint !== undefined && !next.classList.contains("out")) return next.focus();
      } while (true);
    });
  }

  // Values of plots: of the nearest mark on hover and tap, by arrow keys once the plot has the focus, and as a table on demand.
  const points = JSON.parse(document.getElementById("points").textContent);
  for (const plot of all(".plot")) {
    const { reading, series } = points[plot.dataset.plot];
    const pin = document.createElement("span");
    pin.className = "pin";
    pin.hidden = true;
    plot.append(pin);
    plot.tabIndex = 0;
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", `${plot.closest("figure").querySelector("figcaption").textContent}. Arrow keys read its values.`);
    const isOut = ({ method, learner }) => {
      const selected = { method: pressed("method"), learner: pressed("learner") };
      return (selected.method.length > 0 && method !== "" && !selected.method.includes(method)) || (selected.learner.length > 0 && !selected.learner.includes(learner));
    };
    const at = { series: 0, point: 0 };
    const showPoint = () => {
      const { name, points: own } = series[at.series];
      const [x, y, text] = own[at.point];
      pin.style.left = `${x * 100}%`;
      pin.style.top = `${y * 100}%`;
      pin.hidden = false;
      showTip(`${name}\n${text}\n(${reading})`, () => pin.getBoundingClientRect());
    };
    const leave = () => { pin.hidden = true; hideTip(); };
    const nearest = (event) => {
      const box = plot.getBoundingClientRect();
      let best = Infinity;
      series.forEach((one, i) => {
        if (isOut(one)) return;
        one.points.forEach(([x, y], j) => {
          const distance = ((x * box.width + box.left - event.clientX) ** 2) + ((y * box.height + box.top - event.clientY) ** 2);
          if (distance < best) { best = distance; at.series = i; at.point = j; }
        });
      });
      if (best < 60 ** 2) showPoint();
      else leave();
    };
    plot.addEventListener("mousemove", (event) => { if (!rests(event)) nearest(event); });
    plot.addEventListener("click", nearest);
    plot.addEventListener("mouseleave", (event) => { if (!rests(event)) leave(); });
    plot.addEventListener("blur", leave);
    const move = (step, next) => {
      const shown = series.map((one, i) => i).filter((i) => !isOut(series[i]));
      if (shown.length === 0) return;
      if (next) at.series = shown[(Math.max(0, shown.indexOf(at.series)) + next + shown.length) % shown.length];
      else if (!shown.includes(at.series)) at.series = shown[0];
      at.point = Math.min(Math.max(0, at.point + step), series[at.series].points.length - 1);
      showPoint();
    };
    plot.addEventListener("focus", () => { if (plot.matches(":focus-visible")) move(0, 0); });
    plot.addEventListener("keydown", (event) => {
      const keys = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
      if (!(event.key in keys)) return;
      event.preventDefault();
      move(...keys[event.key]);
    });
    const values = plot.parentElement.querySelector("details.values");
    values.addEventListener("toggle", () => {
      if (!values.open || values.querySelector("table")) return;
      const table = document.createElement("table");
      const head = table.createTHead().insertRow();
      for (const text of ["", reading]) head.append(Object.assign(document.createElement("th"), { scope: "col", textContent: text }));
      const body = table.createTBody();
      for (const one of series) {
        for (const [, , text] of one.points) {
          const row = body.insertRow();
          row.append(Object.assign(document.createElement("th"), { scope: "row", textContent: one.name }));
          row.insertCell().textContent = text;
        }
      }
      const box = Object.assign(document.createElement("div"), { className: "points", tabIndex: 0 });
      box.append(table);
      values.prepend(box);
      values.prepend(values.querySelector("summary"));
    });
  }

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
