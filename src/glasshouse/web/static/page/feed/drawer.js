// @ts-check
/** Where the feed is a drawer: what opens it with the mouse, and what closes it. */
import { html, useEffect, useRef } from "page/html";
import { icon } from "page/icons";
import { isDrawerOpen } from "page/sides";
import { IconButton } from "page/ui";
import { head, shown } from "page/store";

/** At the right edge of the page while the drawer is closed. */
export function DrawerTab() {
  const tab = useRef(/** @type {HTMLElement|null} */ (null));
  const wasOpen = useRef(false);
  const isOpen = isDrawerOpen.value;
  useEffect(() => {
    // The focus goes into the drawer and comes back.
    if (isOpen && tab.current && getComputedStyle(tab.current).display !== "none") requestAnimationFrame(focusFeed);
    if (!isOpen && wasOpen.current && document.activeElement?.closest(".at-feed")) tab.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  if (head.value === 0) return null;
  return html`<button type="button" ref=${tab} class="feed-tab" aria-expanded=${isOpen} title="Events (E)" onClick=${() => (isDrawerOpen.value = !isOpen)}>
    ${icon("session", 14)}<span>Events <b>${shown.value}</b></span>
  </button>`;
}

const focusFeed = () => /** @type {HTMLElement|null} */ (document.querySelector(".feed-scroll [tabindex='0']"))?.focus({ preventScroll: true });

/** In the header of the drawer. */
export const DrawerClose = () =>
  html`<span class="feed-close"><${IconButton} label="Close the events" kbd="E" kind="quiet" icon="close" onClick=${() => (isDrawerOpen.value = false)} /></span>`;
