"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  const league = JSON.parse(byId("league").textContent);

{% include "sorting.js" %}

{% include "league_statistics.js" %}

  // What is chosen: one value of each list, and names of methods; with none pressed, all are ranked.
  const lists = all("select[data-choice]");
  const choice = () => Object.fromEntries(lists.map((list) => [list.dataset.choice, list.value]));
  const buttons = all('fieldset[data-filter="method"] button');
  const pressed = () => buttons.filter((b) => b.getAttribute("aria-pressed") === "true").map((b) => b.dataset.name);
  const defaults = choice();
  const isOut = ({ method }) => method !== "" && pressed().length > 0 && !pressed().includes(method);

  const mean = (values) => sum(values) / values.length;
  const median = (values) => {
    const sorted = [...values].sort((a, b) => a - b), half = sorted.length / 2;
    return sorted.length === 0 ? NaN : half % 1 ? sorted[Math.floor(half)] : (sorted[half - 1] + sorted[half]) / 2;
  };
  const rank = (chosen, methods) => {
    const measure = league.measures.find((one) => one.name === chosen.measure);
    const part = league.parts.indexOf(chosen.part);
    const errors = league.errors[measure.name][part];
    const rows = league.sets.map((_, i) => i).filter((i) => {
      const set = league.sets[i];
      return league.suits[i].some((_, j) => errors[i][j] !== null)
        && (chosen.classes === "any" || set.classes === 2)
        && ["kind", "size", "imbalance"].every((what) => chosen[what] === "" || chosen[what] === set[what]);
    });
    const entered = [], unranked = [];
    league.entrants.forEach((entrant, j) => {
      const inView = entrant.learner === "" || ["learner", "target"].every((what) => chosen[what] === "" || chosen[what] === entrant[what]);
      const suited = rows.filter((i) => league.suits[i][j]);
      if (!inView || suited.length === 0 || (methods.length > 0 && !methods.includes(entrant.method))) return;
      const has = rows.filter((i) => errors[i][j] !== null).length;
      if (suited.length < rows.length) unranked.push([entrant.name, `suits ${suited.length} of ${rows.length} data sets`]);
      else if (has < league.coverage * rows.length || has === 0) unranked.push([entrant.name, `has figures on ${has} of ${rows.length} data sets`]);
      else entered.push(j);
    });
    const kept = entered.length ? rows.filter((i) => entered.every((j) => errors[i][j] !== null)) : [];
    const units = new Map();
    for (const i of kept) units.set(league.sets[i].unit, [...(units.get(league.sets[i].unit) || []), i]);
    const over = (values) => [...units.values()].map((of) => entered.map((j) => mean(of.map((i) => values[i][j]))));
    const unitErrors = over(errors.map((row) => row.map((v) => (v === null ? null : v / league.scale))));
    const sign = measure.lower ? 1 : -1;
    const compared = unitErrors.map((row) => row.map((v) => halfEven(sign * v * 1e7) / 1e7));
    const columns = (table) => entered.map((_, j) => (table.length ? mean(table.map((row) => row[j])) : null));
    const means = Object.fromEntries(league.measures.map(({ name }) => [name, columns(over(league.errors[name][part].map((row) => row.map((v) => (v === null ? NaN : v / league.scale)))))]));
    const result = entered.length > 1 && units.size > 1 ? compareRanks(compared, league.alpha, league.critical) : null;
    const ranks = result ? result.means : columns(compared.map((row) => rankData(row).ranks));
    const errorMeans = columns(compared);
    const order = entered.map((_, j) => j).sort((a, b) => Math.round((ranks[a] - ranks[b]) * 1e7) || errorMeans[a] - errorMeans[b] || a - b);
    const perUnit = over(league.seconds);
    const seconds = entered.map((_, j) => median(perUnit.map((row) => row[j])));
    const wins = entered.map((_, j) => compared.filter((row) => row[j] === Math.min(...row)).length);
    return {
      chosen, measure, unranked, result, leftOut: rows.filter((i) => entered.length && !kept.includes(i)).map((i) => league.sets[i].name), sets: kept, nUnits: units.size,
      rows: order.map((j) => ({
        entrant: league.entrants[entered[j]], column: entered[j], rank: ranks[j], wins: wins[j],
        means: Object.fromEntries(Object.entries(means).map(([name, values]) => [name, values[j]])),
        bias: columns(over(league.bias[part]))[j], seconds: seconds[j],
        against: j === order[0] ? "first" : result === null ? "not tested" : result.alike(order[0], j) ? "can't be told apart" : "worse",
      })),
    };
  };

  const listed = (names, most = 8) => {
    const shown = names.length > most ? [...names.slice(0, most), `${names.length - most} more`] : names;
    const comma = shown.some((name) => name.includes(",")) ? ";" : "";
    return shown.length > 1 ? `${shown.slice(0, -1).join(`${comma || ","} `)}${comma} and ${shown.at(-1)}` : shown.join("");
  };
  const count = (n, one, several) => `${n.toLocaleString("en")} ${n === 1 ? one : several}`;
  const namesOf = (ranking) => {
    const methods = ranking.rows.map((row) => row.entrant.method);
    const distinct = new Set(methods).size === methods.length;
    return ranking.rows.map((row) => (distinct ? row.entrant.method : row.entrant.name));
  };
  const inWords = (ranking) => {
    const { rows, nUnits, result, measure } = ranking, names = namesOf(ranking);
    if (rows.length === 0 || nUnits === 0) return "No method has figures on all of these data sets.";
    const over = `Over ${count(nUnits, "data set", "data sets")}`;
    if (rows.length === 1) return `${over}, only ${names[0]} is shown; its mean ${measure.label} is ${rows[0].means[measure.name].toFixed(4)}.`;
    const tied = names.filter((_, i) => Math.abs(rows[i].rank - rows[0].rank) < 1e-9);
    const who = tied.length > 1 ? `${listed(tied)} share the best mean rank` : `${names[0]} has the best mean rank`;
    const best = `${over}, ${who} of ${rows.length} methods: ${rows[0].rank.toFixed(1)}, with a mean ${measure.label} of ${rows[0].means[measure.name].toFixed(4)}.`;
    if (result === null) return `${best} With one data set there is no test of how sure that is.`;
    if (result.p >= league.alpha) return `${best} But these data sets can't tell the methods apart (Friedman's test, p = ${result.p.toFixed(2)}): another choice of data sets may put another first.`;
    const test = result.test === "wilcoxon" ? "Wilcoxon's test with Holm's correction" : `Nemenyi's test; ${nUnits} data sets are too few for Wilcoxon's`;
    const level = `at the level of 5 % (${test})`;
    const equal = names.filter((_, i) => rows[i].against === "can't be told apart");
    if (equal.length === 0) return `${best} It is better than every other one ${level}.`;
    const others = rows.length - 1 - equal.length;
    return `${best} It can't be told apart from ${listed(equal)}${others ? `; it is better than the other ${others > 1 ? others : "one"}` : ""}, ${level}.`;
  };
  const leftOutInWords = ({ unranked, leftOut }) => {
    const reasons = new Map();
    for (const [name, reason] of unranked) reasons.set(reason, [...(reasons.get(reason) || []), name]);
    const parts = [...reasons].map(([reason, names]) => `${listed(names, 99)} (${reason})`);
    return [
      parts.length ? `Not ranked here, because ranks need the same data sets: ${parts.join("; ")}.` : "",
      leftOut.length ? `${count(leftOut.length, "data set", "data sets")} on which a ranked method has no figures ${leftOut.length === 1 ? "is" : "are"} left out: ${listed(leftOut, 99)}.` : "",
    ].join(" ").trim();
  };

  // Tables: heads and rows of {text, value}; a head of a row is text alone.
  const draw = (box, label, heads, rows, nLabels) => {
    const table = document.createElement("table");
    table.setAttribute("aria-label", label);
    const top = table.createTHead().insertRow(), body = table.createTBody();
    heads.forEach((text, i) => top.append(Object.assign(document.createElement("th"), { scope: "col", textContent: text, className: i < nLabels ? "" : text === "against the first" ? "figure words" : "figure" })));
    for (const { cells, rest, share } of rows) {
      const row = body.insertRow();
      cells.forEach((cell, i) => {
        const node = document.createElement(i < nLabels ? "th" : "td");
        if (i < nLabels) node.scope = "row";
        else node.className = `figure${cell.best ? " best" : ""}${cell.words ? " words" : ""}${cell.words && cell.text !== "worse" ? " equal" : ""}`;
        node.textContent = cell.text;
        if (cell.value !== undefined && Number.isFinite(cell.value)) node.dataset.value = cell.value;
        if (i === 0 && rest) node.append(Object.assign(document.createElement("span"), { className: "rest", textContent: rest }));
        if (i === nLabels && share !== undefined) {
          const bar = Object.assign(document.createElement("span"), { className: "bar" });
          bar.style.setProperty("--share", share);
          node.append(bar);
        }
        row.append(node);
      });
    }
    box.replaceChildren(table);
    makeSortable(table);
  };
  const number = (value, digits) => (Number.isFinite(value) && value !== null ? { text: value.toFixed(digits), value } : { text: "–" });
  const drawRanking = (ranking) => {
    const heads = ["method", "learner", "settings", "mean rank", ...league.measures.map(({ label }) => `mean ${label}`), "bias", "best on", "seconds", "against the first"];
    const k = Math.max(1, ranking.rows.length);
    const rows = ranking.rows.map((row, i) => {
      const settings = league.settings[row.entrant.target] || row.entrant.target;
      return {
        cells: [
          { text: row.entrant.method }, { text: row.entrant.learner || "–" }, { text: row.entrant.learner ? settings : "–" },
          { ...number(row.rank, 2), best: i === 0 },
          ...league.measures.map(({ name }) => number(row.means[name], 4)),
          number(row.bias, 4), number(row.wins, 0), number(row.seconds, 3), { text: row.against, words: true },
        ],
        rest: [row.entrant.learner, row.entrant.learner ? settings : ""].filter(Boolean).join(", "), share: row.rank / k,
      };
    });
    draw(byId("leaderboard"), "Ranking", heads, rows, 3);
  };
  const drawSets = (ranking) => {
    const errors = league.errors[ranking.measure.name][league.parts.indexOf(ranking.chosen.part)];
    const better = ranking.measure.lower ? Math.min : Math.max;
    const rows = ranking.sets.map((i) => {
      const values = ranking.rows.map((row) => errors[i][row.column] / league.scale);
      const best = better(...values);
      const set = league.sets[i];
      return {
        cells: [{ text: set.name }, ...values.map((v) => ({ ...number(v, 4), best: v === best }))],
        rest: `${set.classes} classes, ${set.nTrain.toLocaleString("en")} labelled`,
      };
    });
    draw(byId("set-errors"), "Errors by data set", ["data set", ...namesOf(ranking)], rows, 1);
    byId("by-set-note").textContent = `Mean ${ranking.measure.label} on each data set of the ranking above, methods in the order of the ranking; the best in bold.`;
  };

  // Links: the hash keeps what is chosen and the section that is open.
  const state = () => {
    const plain = location.hash.slice(1);
    return plain !== "" && !plain.includes("=") ? new URLSearchParams({ at: decodeURIComponent(plain) }) : new URLSearchParams(plain);
  };
  let section = state().get("at") || "";
  const linked = () => section;
  const keep = () => {
    const chosen = choice(), params = new URLSearchParams();
    for (const [name, value] of Object.entries(chosen)) if (value !== defaults[name]) params.set(name, value);
    for (const name of pressed()) params.append("method", name);
    if (section) params.set("at", section);
    const text = params.toString();
    if (text !== location.hash.slice(1)) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  };
  const restore = () => {
    const params = state();
    for (const list of lists) {
      const value = params.get(list.dataset.choice);
      list.value = value !== null && [...list.options].some((option) => option.value === value) ? value : defaults[list.dataset.choice];
    }
    const named = params.getAll("method");
    for (const button of buttons) button.setAttribute("aria-pressed", String(named.includes(button.dataset.name)));
    if (named.length) byId("choose-methods").open = true;
    section = params.get("at") || "";
  };
  const apply = () => {
    const chosen = choice(), methods = pressed(), ranking = rank(chosen, methods);
    const isFirst = methods.length === 0 && lists.every((list) => list.value === defaults[list.dataset.choice]);
    byId("verdict").textContent = isFirst ? "" : inWords(ranking);  // what is shown first stands at the top of the page
    byId("left-out").textContent = isFirst ? "" : leftOutInWords(ranking);
    drawRanking(ranking);
    drawSets(ranking);
    const tests = ranking.result ? ` Friedman's test: p ${ranking.result.p < 0.001 ? "< 0.001" : `= ${ranking.result.p.toFixed(3)}`}.` : "";
    byId("ranking-note").textContent = `Mean ranks by ${ranking.measure.label} over ${count(ranking.nUnits, "data set", "data sets")}${ranking.sets.length > ranking.nUnits ? ` (${ranking.sets.length} files: those made of the same items count once)` : ""}; 1 is the best.${tests} Bias: estimated minus true share of the rarest class of the training part. Best on: the number of data sets with the lowest error, alone or with others. Seconds: the median time of training. Click on a column head to sort by it.`;
    const view = [chosen.learner, chosen.target, chosen.classes].join("|");
    for (const part of all("[data-view]")) part.classList.toggle("out", league.views[part.dataset.view] !== view);
    const has = Object.values(league.views).includes(view);
    const narrowed = ["kind", "size", "imbalance", "part", "measure"].some((what) => chosen[what] !== defaults[what]);
    byId("pictures-note").textContent = has
      ? `Over all data sets of this kind${chosen.classes === "two" ? " (two classes)" : ""} and all test samples, by ${league.measures[0].label}.${narrowed ? " The lists for kind, size, rarest class, samples and error above change the tables, not the pictures." : ""}`
      : "Pictures are of one classifier and one way of choosing settings: choose one of each in the lists above.";
    for (const mark of all("[data-series-method]")) mark.classList.toggle("out", isOut({ method: mark.dataset.seriesMethod }));
    for (const row of all("#tables tbody tr[data-method]")) row.classList.toggle("out", isOut({ method: row.dataset.method }));
    const said = lists.filter((list) => list.value !== defaults[list.dataset.choice]).map((list) => list.selectedOptions[0].textContent);
    const shown = [...said, ...methods];
    byId("shown").textContent = shown.length ? `shown: ${shown.join(", ")}` : "";
  };
  const changed = () => { apply(); keep(); };
  lists.forEach((list) => list.addEventListener("change", changed));
  for (const button of buttons) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      changed();
    });
  }
  byId("all").addEventListener("click", () => {
    lists.forEach((list) => { list.value = defaults[list.dataset.choice]; });
    buttons.forEach((button) => button.setAttribute("aria-pressed", "false"));
    changed();
  });
  restore();
  apply();
  byId("filters").hidden = false;
  all(".needs-script").forEach((part) => { part.hidden = false; });
  window.addEventListener("hashchange", () => { restore(); apply(); keep(); });
  for (const link of all('nav a[href^="#"], .warning a[href^="#"]')) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      section = link.getAttribute("href").slice(1);
      keep();
      openTarget();
    });
  }

{% include "folds.js" %}

  // A section that the reader opens is the one that the link leads to.
  for (const part of all("details.fold > summary")) {
    part.addEventListener("click", () => {
      const fold = part.parentElement, id = fold.id || fold.parentElement.id;
      if (!fold.open && id) section = id;
      else if (section === id) section = "";
      keep();
    });
  }

{% include "hints.js" %}

{% include "plot_values.js" %}

  // Files of the tables as they are shown.
  const texts = (box) => all("tr", box).filter((row) => !row.classList.contains("out")).map((row) => [...row.cells].map((cell) => {
    const own = cell.querySelector("button") || cell;
    return cell.dataset.value || (own.firstChild ? own.firstChild.textContent : "");
  }));
  const csvCell = (text) => {
    const safe = /^[=+@\t\r]|^-(?![\d.])/.test(text) ? `'${text}` : text;
    return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const texSigns = { "\\": "\\textbackslash{}", "–": "--", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };
  const tex = (text) => text.replace(/[\\–~^&%$#_{}]/g, (sign) => texSigns[sign] || `\\${sign}`);
  const forms = {
    csv: (rows) => rows.map((row) => row.map(csvCell).join(",")).join("\n") + "\n",
    tex: ([head, ...rows]) => {
      const lines = (row) => `${row.map((text) => tex(text !== "" && Number.isFinite(Number(text)) ? String(Number(Number(text).toPrecision(4))) : text)).join(" & ")} \\\\`;
      return ["\\begin{tabular}{" + "l" + "r".repeat(head.length - 1) + "}", "\\toprule", lines(head), "\\midrule", ...rows.map(lines), "\\bottomrule", "\\end{tabular}", ""].join("\n");
    },
  };
  for (const button of all("[data-download] button")) {
    button.addEventListener("click", () => {
      const { form } = button.dataset, id = button.parentElement.dataset.download;
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([forms[form](texts(byId(id)))], { type: "text/plain" }));
      link.download = `${id}.${form}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

{% include "theme.js" %}
})();
