  const theme = document.getElementById("theme");
  const order = ["", "light", "dark"];
  theme.addEventListener("click", () => {
    const next = order[(order.indexOf(document.documentElement.dataset.theme || "") + 1) % order.length];
    if (next) document.documentElement.dataset.theme = next;
    else delete document.documentElement.dataset.theme;
    theme.textContent = `Theme: ${next || "as the system"}`;
  });
  theme.hidden = false;
