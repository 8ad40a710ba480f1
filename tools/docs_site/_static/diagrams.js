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
    const [ground, box, text, line] = dark ? ["#131416", "#24272b", "#f2f2f2", "#b4b8bf"] : ["#ffffff", "#f3f4f6", "#111111", "#55595f"];
    const themeVariables = { darkMode: dark, background: ground, primaryColor: box, primaryTextColor: text, primaryBorderColor: line,
      lineColor: line, textColor: text, edgeLabelBackground: ground };
    mermaid.initialize({ startOnLoad: false, theme: "base", themeVariables, securityLevel: "strict" });
    mermaid.run({ nodes: diagrams });
  };
  document.head.append(script);
});
