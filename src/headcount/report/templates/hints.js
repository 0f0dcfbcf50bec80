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
