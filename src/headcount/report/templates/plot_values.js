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
    const values = plot.closest("figure").querySelector("details.values");
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
