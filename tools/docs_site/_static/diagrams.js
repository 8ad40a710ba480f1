// Draw the diagrams of a page that has some. Without this, their text is there.
document.addEventListener("DOMContentLoaded", () => {
  const diagrams = document.querySelectorAll("pre.mermaid");
  if (!diagrams.length) return;
  const here = document.querySelector('script[src*="diagrams.js"]').src;
  const script = document.createElement("script");
  script.src = here.replace(/diagrams\.js.*$/, "mermaid.js");
  script.onload = () => {
    const chosen = document.body.dataset.theme;
    const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
    mermaid.initialize({ startOnLoad: false, theme: dark ? "dark" : "neutral", securityLevel: "strict" });
    mermaid.run({ nodes: diagrams });
  };
  document.head.append(script);
});
