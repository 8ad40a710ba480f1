// @ts-check
/** A graph to look at: the picture of any view, without hover, menus or drags. */
import { effect } from "@preact/signals";
import { html, useEffect, useLayoutEffect, useRef } from "page/html";
import { theme } from "page/colours";
import { summaryOf } from "page/graph/summary";
import { makePicture } from "page/graph/picture";

/**
 * It fills its parent, which needs a size. Another view lets nodes flow to where they belong; `isStatic` cuts to it.
 * @param {{view: import("page/apply").View, isStatic?: boolean, margin?: number, path?: import("page/graph/scene").PathStep[], selected?: string, label?: string}} props
 */
export function StaticGraph({ view, isStatic = false, margin = 14, path = [], selected = "", label }) {
  const canvas = useRef(/** @type {HTMLCanvasElement|null} */ (null));
  const made = useRef(/** @type {ReturnType<typeof makePicture>|null} */ (null));
  useLayoutEffect(() => {
    const element = canvas.current;
    const box = element?.parentElement;
    if (!element || !box) return undefined;
    const picture = makePicture(element, { isStill: isStatic });
    made.current = picture;
    const resize = () => {
      const { clientWidth: width, clientHeight: height } = box;
      picture.resize(width, height, { left: margin, top: margin + 8, right: width - margin, bottom: height - margin });
    };
    const sizes = new ResizeObserver(resize);
    sizes.observe(box);
    const end = effect(() => {
      theme.value;
      picture.recolour();
    });
    return () => {
      sizes.disconnect();
      end();
      picture.end();
      made.current = null;
    };
  }, [isStatic, margin]);
  // The store changes a live view in place, so it is shown whenever the parent is drawn again.
  useEffect(() => {
    if (!made.current) return;
    Object.assign(made.current.shown, { path, selected });
    made.current.show(view, { isNext: false });
  });
  return html`<div class="still-graph"><canvas ref=${canvas} role="img" aria-label=${label ?? summaryOf(view)}></canvas></div>`;
}
