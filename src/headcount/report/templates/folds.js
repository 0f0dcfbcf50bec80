  // Folds: open on a wide screen, closed on a narrow one, where the page would be very long; a link opens what it leads to.
  const folds = all("details.fold");
  const narrow = window.matchMedia("(max-width: 40rem)");
  const fold = () => folds.forEach((part) => { part.open = !narrow.matches && !part.classList.contains("closed"); });
  const openTarget = () => {
    const target = linked() !== "" && document.getElementById(linked());
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
