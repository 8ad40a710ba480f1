// Before the first paint, so that a dark room stays dark.
try {
  const kept = localStorage.getItem("glasshouse.theme");
  const isDark = kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
} catch {
  document.documentElement.dataset.theme = "light";
}
