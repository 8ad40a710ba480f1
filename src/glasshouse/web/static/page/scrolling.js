// @ts-check
/** What scrolls can be reached by the keyboard, and what does not scroll is no stop on its way. */
import { useLayoutEffect, useState } from "page/html";

/**
 * The attributes of a box that may have to scroll.
 * @param {{current: HTMLElement|null}} box @param {string} label what a screen reader calls it
 */
export function useScrolling(box, label) {
  const [isScrolling, setScrolling] = useState(false);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const look = () => setScrolling(element.scrollHeight > element.clientHeight + 1);
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    return () => observer.disconnect();
  }, []);
  return isScrolling ? { tabIndex: 0, role: "group", "aria-label": label } : {};
}
