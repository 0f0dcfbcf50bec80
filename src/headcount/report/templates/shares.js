"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const data = JSON.parse(byId("data").textContent);
  const N = data.names.length, K = data.classes.length;
  const names = data.names.map((parts) => parts.join(" / "));
  const [SHARE, LOW, HIGH] = [0, 1, 2];
  const value = (g, j, end = SHARE) => {
    const millionths = data.shares[g][3 * j + end];
    return millionths === null ? null : millionths / 1e6;
  };
  const whole = (number) => Math.round(number).toLocaleString("en");
  const percent = (share, digits = 1) => (100 * share).toFixed(digits).replace(/^-(?=[0.]*$)/, ""); // no -0.0
  const verdict = (g) => data.verdicts[data.verdict[g]];
  const warned = (g) => !["trust", "not checked", "labelled"].includes(verdict(g));
  all(".needs-script").forEach((element) => { element.hidden = false; });

  // What is shown: the groups that pass all filters, in the order chosen, and the classes that are ticked.
  const controls = byId("controls"), table = byId("groups");
  const shown = { groups: names.map((_, g) => g), classes: data.classes.map((_, j) => j), reason: null };
  const rows = table ? [...table.tBodies[0].rows] : [];
  const rowIndex = new Map(rows.map((row, g) => [row, g]));
  const FIRST = 2;  // columns before those of classes
  const FEW = 200;  // rows that are laid out until all are asked for: a thousand take seconds
  let order = names.map((_, g) => g);
  const arrange = () => {
    const inView = new Set(shown.groups);
    shown.groups = order.filter((g) => inView.has(g));
    rows.forEach((row, g) => { row.hidden = !inView.has(g); });
    table.tBodies[0].append(...shown.groups.map((g) => rows[g]), ...order.filter((g) => !inView.has(g)).map((g) => rows[g]));
    const all = table.parentElement.classList.contains("all");
    byId("more").hidden = all || shown.groups.length <= FEW;
    byId("more").textContent = `Show all ${whole(shown.groups.length)} rows`;
    (all ? shown.groups : shown.groups.slice(0, FEW)).forEach(fillRow);
  };
  const hiddenColumns = document.head.appendChild(document.createElement("style"));
  const apply = () => {
    const part = byId("find").value.trim().toLowerCase(), kind = byId("verdict").value;
    const about = shown.reason === null ? null : new Set(data.reasons[shown.reason].groups);
    const passes = (g) => names[g].toLowerCase().includes(part) && (kind === "" || data.verdict[g] === Number(kind)) && (about === null || about.has(g));
    shown.groups = order.filter(passes);
    shown.classes = all("#classes input:checked").map((box) => Number(box.value));
    hiddenColumns.textContent = data.classes.map((_, j) => j).filter((j) => !shown.classes.includes(j))
      .map((j) => `#groups tr > :nth-child(${FIRST + 1 + j}) { display: none; }`).join("\n");
    const classes = shown.classes.length < K ? `, ${shown.classes.length} of ${K} classes` : "";
    const why = about === null ? "" : " with the warning that was chosen";
    byId("shown").textContent = `Shown: ${whole(shown.groups.length)} of ${whole(N)} groups${why}${classes}.`;
    arrange();
    drawPlots();
  };

  // Sorting: by figures, or by the order of the page; groups without a figure come last.
  // A quantile is a class: it is sorted by the place of that class.
  const figureKey = (i, g) => {
    const figure = data.values[g][3 * i];
    if (figure === null || data.figures[i].kind !== "quantile") return figure;
    return data.classes.indexOf(String(figure));
  };
  const sortKeys = [(g) => g, (g) => data.n[g], ...data.classes.map((_, j) => (g) => value(g, j)), ...data.figures.map((_, i) => (g) => figureKey(i, g)), verdict, (g) => data.p[g]];
  const makeSortable = () => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: head.textContent });
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const key = sortKeys[column], numeric = column > 0 && key !== verdict;
        const [first, second] = numeric ? ["descending", "ascending"] : ["ascending", "descending"];
        const direction = head.getAttribute("aria-sort") === first ? second : first;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", direction);
        const sign = direction === "ascending" ? 1 : -1;
        const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
        const keyed = names.map((_, g) => [key(g), g]);
        keyed.sort(([a, g], [b, h]) => (a === null || b === null ? (a === null) - (b === null) || g - h : sign * compare(a, b) || g - h));
        order = keyed.map(([, g]) => g);
        arrange();
      });
    });
  };

  // Cells: figures as chosen, above a strip with the share and its interval on one scale for all. Rows are filled when first shown.
  const largest = Math.max(1, ...data.shares.map((ends) => Math.max(...ends.filter((end) => end !== null)))) / 1e6;
  const figures = (g, j, view) => {
    const [share, low, high] = [SHARE, LOW, HIGH].map((end) => value(g, j, end)), n = data.n[g];
    if (share === null) return "";
    const shares = `${percent(share)} %${low === null ? "" : `<small>${percent(low)} to ${percent(high)}</small>`}`;
    const counts = `<span>${whole(n * share)}</span>${low === null ? "" : `<small>${whole(n * low)} to ${whole(n * high)}</small>`}`;
    return view === "shares" ? shares : view === "counts" ? counts : shares + counts;
  };
  const initialView = table && byId("view").value, viewOfRow = new Map();
  const fillRow = (g) => {
    const view = byId("view").value, former = viewOfRow.get(g);
    if (view === former) return;
    viewOfRow.set(g, view);
    for (let j = 0; j < K; j += 1) {
      const cell = rows[g].cells[FIRST + j], share = value(g, j);
      if ((former ?? initialView) !== view) cell.innerHTML = figures(g, j, view);
      if (former !== undefined || share === null) continue;
      const low = value(g, j, LOW) ?? share, high = value(g, j, HIGH) ?? share;
      cell.className = "strip";
      cell.style.cssText = `--s:${share / largest};--l:${low / largest};--h:${high / largest}`;
    }
  };

  // The hint: one element beside what it is about, which follows it when the page scrolls, and never leaves the window.
  const tip = byId("tip");
  let boxOfTip = null;
  const hideTip = () => { tip.hidden = true; boxOfTip = null; };
  const placeTip = () => {
    if (boxOfTip === null) return;
    const box = boxOfTip(), space = document.documentElement;
    tip.hidden = box.bottom < 0 || box.top > space.clientHeight;
    if (tip.hidden) return;
    const { width, height } = tip.getBoundingClientRect();
    const x = Math.max(4, Math.min(box.left, space.clientWidth - width - 4));
    const y = box.bottom + 8 + height <= space.clientHeight ? box.bottom + 8 : Math.max(4, box.top - height - 8);
    tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  };
  const showTip = (text, element) => {
    if (tip.textContent !== text) tip.textContent = text;
    boxOfTip = () => element.getBoundingClientRect();
    placeTip();
  };
  document.addEventListener("scroll", placeTip, { capture: true, passive: true });
  // Moving the focus scrolls the page under a pointer that rests: only a pointer that moves takes the hint back.
  let byKeyboard = false;
  document.addEventListener("keydown", (event) => {
    byKeyboard = true;
    if (event.key === "Escape") hideTip();
  }, { capture: true });
  const rests = (event) => {
    if (event.movementX !== 0 || event.movementY !== 0) byKeyboard = false;
    return byKeyboard;
  };
  const reasonsOf = (g) => data.reasons.filter((reason) => reason.groups.includes(g)).map((reason) => reason.text);
  const describe = (g, j) => {
    const [share, low, high] = [SHARE, LOW, HIGH].map((end) => value(g, j, end)), n = data.n[g];
    if (share === null) return `${names[g]}\n${verdict(g)}: ${whole(n)} items`;
    const interval = low === null ? "" : ` (${percent(low, 2)} to ${percent(high, 2)})`;
    const counts = low === null ? "" : ` (${whole(n * low)} to ${whole(n * high)})`;
    return `${names[g]}\n${data.classes[j]}: ${percent(share, 2)} %${interval}\nabout ${whole(n * share)} of ${whole(n)} items${counts}\nverdict: ${verdict(g)}`;
  };

  // Values of the table on hover, tap and focus: one cell is in the tab order, and arrow keys move on from it.
  const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
  const readable = (cell) => cell && cell.cellIndex > 0 && cell.parentElement.parentElement === table.tBodies[0];
  const makeReadable = () => {
    const body = table.tBodies[0];
    const show = (cell) => {
      if (!readable(cell)) { hideTip(); return; }
      const g = rowIndex.get(cell.parentElement), j = cell.cellIndex - FIRST;
      showTip(j >= 0 && j < K ? describe(g, j) : [`${names[g]}: ${verdict(g)}, ${whole(data.n[g])} items`, ...reasonsOf(g)].join("\n"), cell);
    };
    const cellAt = (event) => event.target.closest("td");
    let current = rows[0].cells[FIRST];
    const select = (cell) => { current.removeAttribute("tabindex"); current = cell; current.tabIndex = 0; };
    select(current);
    table.setAttribute("role", "grid");
    body.addEventListener("mousemove", (event) => { if (!rests(event)) show(cellAt(event)); });
    body.addEventListener("mouseleave", (event) => { if (!rests(event)) hideTip(); });
    body.addEventListener("click", (event) => { show(cellAt(event)); });
    body.addEventListener("focusout", hideTip);
    body.addEventListener("focusin", (event) => show(cellAt(event)));
    body.addEventListener("keydown", (event) => {
      if (!(event.key in steps) || !readable(cellAt(event))) return;
      event.preventDefault();
      const [down, right] = steps[event.key];
      let row = current.parentElement, column = current.cellIndex;
      do { row = down > 0 ? row.nextElementSibling : down < 0 ? row.previousElementSibling : row; } while (row && row.hidden);
      do { column += right; } while (right && row.cells[column] && row.cells[column].offsetParent === null);
      const next = row && row.cells[column];
      if (!readable(next) || next.offsetParent === null) return;
      select(next);
      next.focus();
    });
  };

  // Plots: one for each class, or, where groups form several series, one for each series with a line for each class.
  const SVG = "http://www.w3.org/2000/svg";
  const HEIGHT = 190, EDGE = { left: 46, right: 12, top: 10, bottom: 24 }, MOST_POINTS = 60, MOST_PLOTS = 60;
  const draw = (parent, tag, attributes, text) => {
    const element = parent.appendChild(document.createElementNS(SVG, tag));
    for (const [name, given] of Object.entries(attributes)) element.setAttribute(name, given);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  // Steps of 1, 2 or 5 times a power of ten: their labels are exact with as many digits as the step has.
  const ticksTo = (top) => {
    const power = 10 ** Math.floor(Math.log10(100 * top / 4));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => 100 * top / one <= 5);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const count = Math.floor(100 * top / step + 1e-9);
    return Array.from({ length: count + 1 }, (_, i) => [i * step / 100, `${(i * step).toFixed(digits)} %`]);
  };
  const shorten = (text, most) => (text.length <= most ? text : `${text.slice(0, Math.ceil(most / 2) - 1)}…${text.slice(-Math.floor(most / 2))}`);
  const topOf = (panels) => {
    const ends = panels.flatMap(({ lines }) => lines.flatMap(({ j, groups }) => groups.map((g) => value(g, j, HIGH) ?? value(g, j) ?? 0)));
    return Math.min(1, 1.05 * Math.max(0.001, ends.reduce((a, b) => Math.max(a, b), 0)));
  };
  const panelsOf = () => {
    const inView = new Set(shown.groups);
    if (data.series.length > 1) {
      return data.series.map((title, i) => ({ title, groups: data.members[i].filter((g) => inView.has(g)) })).filter(({ groups }) => groups.length > 0)
        .map(({ title, groups }) => ({ title, lines: shown.classes.map((j) => ({ j, groups })), banded: shown.classes.length < 3 }));
    }
    return shown.classes.map((j) => {
      const groups = data.members[0].filter((g) => inView.has(g));
      if (!data.order) groups.sort((g, h) => (value(g, j) ?? 2) - (value(h, j) ?? 2));
      return { title: data.classes[j], lines: [{ j, groups }], banded: true };
    });
  };
  const drawPanel = (svg, { lines, banded }, top, width) => {
    const count = Math.max(1, lines[0].groups.length);
    const inner = width - EDGE.left - EDGE.right, low = HEIGHT - EDGE.bottom;
    const x = (i) => EDGE.left + (count === 1 ? inner / 2 : 6 + i * (inner - 12) / (count - 1));
    const y = (share) => low - (low - EDGE.top) * share / top;
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    for (const [share, label] of ticksTo(top)) {
      draw(svg, "line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: y(share), y2: y(share) });
      draw(svg, "text", { class: "y", x: EDGE.left - 5, y: y(share) + 4, "text-anchor": "end" }, label);
    }
    if (data.order) {
      const labels = lines[0].groups.map((g) => shorten(data.steps[g], 14));
      const wide = 7 * Math.max(...labels.map((label) => label.length)) + 10, every = Math.max(1, Math.ceil(count * wide / inner));
      let before = -Infinity;
      labels.forEach((label, i) => {
        const half = wide / 2 - 5, at = Math.min(Math.max(x(i), half), width - half);
        if (i % every || at - before < wide - 4) return;  // the last one, moved inside, may come too near to the one before
        before = at;
        draw(svg, "text", { class: "x", x: at, y: HEIGHT - 7, "text-anchor": "middle" }, label);
      });
    } else {
      draw(svg, "text", { class: "x", x: EDGE.left, y: HEIGHT - 7 }, "smallest share");
      draw(svg, "text", { class: "x", x: width - EDGE.right, y: HEIGHT - 7, "text-anchor": "end" }, "largest share");
    }
    for (const { j, groups } of lines) {
      const layer = draw(svg, "g", { class: count > 200 ? "dense" : "", style: `--c:var(--c${j % data.palette})` });
      const runs = [];
      groups.forEach((g, i) => {
        if (value(g, j) === null) return;
        if (i === 0 || value(groups[i - 1], j) === null) runs.push([]);
        runs.at(-1).push([g, i]);
      });
      const path = (run, end) => run.map(([g, i]) => `${x(i).toFixed(1)} ${y(value(g, j, end)).toFixed(1)}`).join("L");
      const joined = data.order || count > MOST_POINTS;
      for (const run of runs) {
        const bounded = banded && run.every(([g]) => value(g, j, LOW) !== null);
        if (bounded && joined && run.length > 1) draw(layer, "path", { class: "band", d: `M${path(run, HIGH)}L${path([...run].reverse(), LOW)}Z` });
        else if (bounded) run.forEach(([g, i]) => draw(layer, "line", { class: "range", x1: x(i), x2: x(i), y1: y(value(g, j, LOW)), y2: y(value(g, j, HIGH)) }));
        if (joined) draw(layer, "path", { class: "curve", "stroke-dasharray": j < 10 ? "none" : "4 2", d: `M${path(run, SHARE)}` });
        if (count <= MOST_POINTS && lines.length < 4) run.forEach(([g, i]) => draw(layer, "circle", { class: warned(g) ? "point warned" : "point", cx: x(i), cy: y(value(g, j)), r: 2.6 }));
      }
    }
    return { x, y };
  };
  // Values of a plot: those nearest to the pointer, or by arrow keys; up and down go on to the next line or plot.
  const makePlotReadable = (svg, panel, scales, focusOther) => {
    const pin = draw(svg, "circle", { class: "pin", r: 5, visibility: "hidden" });
    const at = { line: 0, i: 0 };
    const show = () => {
      const { j, groups } = panel.lines[at.line], g = groups[at.i];
      pin.setAttribute("cx", scales.x(at.i));
      pin.setAttribute("cy", scales.y(value(g, j) ?? 0));
      pin.setAttribute("visibility", value(g, j) === null ? "hidden" : "visible");
      showTip(describe(g, j), value(g, j) === null ? svg : pin);
    };
    const leave = () => { pin.setAttribute("visibility", "hidden"); hideTip(); };
    const nearest = (event) => {
      const box = svg.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
      const distance = (line, i) => {
        const share = value(panel.lines[line].groups[i], panel.lines[line].j);
        return share === null ? Infinity : (scales.x(i) - px) ** 2 + (scales.y(share) - py) ** 2 / 100;
      };
      let best = Infinity;
      panel.lines.forEach(({ groups }, line) => groups.forEach((_, i) => {
        const own = distance(line, i);
        if (own < best) { best = own; Object.assign(at, { line, i }); }
      }));
      if (best < 60 ** 2) show(); else leave();
    };
    svg.addEventListener("mousemove", (event) => { if (!rests(event)) nearest(event); });
    svg.addEventListener("click", nearest);
    svg.addEventListener("mouseleave", (event) => { if (!rests(event)) leave(); });
    svg.addEventListener("blur", leave);
    svg.addEventListener("focus", () => { if (svg.matches(":focus-visible")) show(); });
    svg.addEventListener("keydown", (event) => {
      const last = panel.lines[0].groups.length - 1;
      const [down, right] = steps[event.key] ?? [0, 0];
      const i = { Home: 0, End: last }[event.key] ?? Math.min(Math.max(0, at.i + right), last);
      if (!(event.key in steps) && event.key !== "Home" && event.key !== "End") return;
      event.preventDefault();
      const line = at.line + down;
      if (line < 0 || line >= panel.lines.length) { focusOther(down); return; }
      Object.assign(at, { line, i });
      show();
    });
  };
  const drawPlots = () => {
    const area = byId("plots");
    if (!area) return;
    area.replaceChildren();
    hideTip();
    const panels = panelsOf().filter(({ lines }) => lines.length > 0 && lines[0].groups.length > 0);
    const common = byId("one-scale").checked ? topOf(panels) : null;
    area.classList.toggle("many", panels.length > 12);
    byId("shaded").hidden = !panels.some(({ banded }) => banded);
    const figures = panels.slice(0, MOST_PLOTS).map((panel) => {
      const figure = area.appendChild(document.createElement("figure"));
      figure.appendChild(document.createElement("figcaption")).textContent = panel.title;
      const svg = draw(figure, "svg", { role: "group", tabindex: -1, "aria-label": `Plot of ${panel.title}. Arrow keys read its values.` });
      return { panel, svg };
    });
    const focusOn = (i) => { if (figures[i]) { figures.forEach(({ svg }, k) => { svg.tabIndex = k === i ? 0 : -1; }); figures[i].svg.focus(); } };
    const width = figures.length ? Math.max(200, figures[0].svg.getBoundingClientRect().width) : 0;
    figures.forEach(({ panel, svg }, i) => {
      const scales = drawPanel(svg, panel, common ?? topOf([panel]), width);
      makePlotReadable(svg, panel, scales, (down) => focusOn(i + down));
      svg.tabIndex = i === 0 ? 0 : -1;
    });
    byId("hollow").hidden = area.querySelector(".point.warned") === null;
    if (panels.length > MOST_PLOTS) {
      area.appendChild(document.createElement("p")).textContent = `${MOST_PLOTS} of ${whole(panels.length)} plots are shown: find groups by name to see others.`;
    }
  };

  // Downloads: one line for each group and class.
  // A text that a spreadsheet would run as a formula begins with an apostrophe, as in the tables of `headcount estimate -o`.
  const number = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?( ?%)?$/;
  const cell = (entry) => (typeof entry === "string" && /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(entry) && !number.test(entry) ? `'${entry}` : String(entry ?? ""));
  const field = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const csv = (groups, classes) => {
    const figures = data.figures.flatMap(({ key }) => [key, `${key}_low`, `${key}_high`]);
    const lines = [["group", ...data.columns, "class", "share", "share_low", "share_high", "count", "count_low", "count_high", "n", "verdict", "p_corrected", ...figures]];
    for (const g of groups) {
      for (const j of classes) {
        const ends = [SHARE, LOW, HIGH].map((end) => value(g, j, end));
        const counts = ends.map((end) => (end === null ? null : Math.round(end * data.n[g])));
        const parts = data.columns.length ? data.names[g] : [];
        lines.push([names[g], ...parts, data.classes[j], ...ends, ...counts, data.n[g], verdict(g), data.p[g], ...data.values[g]]);
      }
    }
    return lines.map((line) => line.map((entry) => field(cell(entry))).join(",")).join("\n") + "\n";
  };
  const save = (text) => {
    // The byte order mark makes spreadsheets read UTF-8.
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" })), download: "shares.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const everything = [names.map((_, g) => g), data.classes.map((_, j) => j)];
  byId("save-all").addEventListener("click", () => save(csv(...everything)));

  if (table) {
    makeSortable();
    makeReadable();
    byId("save-shown").addEventListener("click", () => save(csv(shown.groups, shown.classes)));
    byId("find").addEventListener("input", apply);
    byId("verdict").addEventListener("change", apply);
    byId("classes").addEventListener("change", apply);
    byId("no-class")?.addEventListener("click", () => {
      all("#classes input").forEach((box) => { box.checked = false; });
      apply();
    });
    byId("view").addEventListener("change", arrange);
    byId("more").addEventListener("click", () => {
      table.parentElement.classList.add("all");
      arrange();
    });
    window.addEventListener("beforeprint", () => order.forEach(fillRow));
    all("[data-reason]").forEach((button) => button.addEventListener("click", () => {
      shown.reason = Number(button.dataset.reason);
      apply();
      table.parentElement.focus({ preventScroll: true });
      byId("shown").scrollIntoView({ block: "start" });
    }));
    byId("show-all").addEventListener("click", () => {
      controls.reset();
      shown.reason = null;
      apply();
    });
    if (byId("plots")) {
      byId("one-scale").addEventListener("change", drawPlots);
      let width = 0;
      new ResizeObserver(([{ contentRect }]) => {
        if (contentRect.width === width) return;
        width = contentRect.width;
        drawPlots();
      }).observe(byId("plots"));
    }
    apply();
  }
  controls.addEventListener("submit", (event) => event.preventDefault());

  const theme = byId("theme"), themes = ["", "light", "dark"];
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const root = document.documentElement, next = themes[(themes.indexOf(root.dataset.theme || "") + 1) % 3];
    if (next) root.dataset.theme = next; else delete root.dataset.theme;
    theme.textContent = `Theme: ${next || "as the system"}`;
  });
})();
