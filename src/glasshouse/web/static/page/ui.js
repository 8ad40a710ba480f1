// @ts-check
/** Small parts that every panel uses: buttons, chips, dialogs, menus, numbers. */
import { html, useEffect, useLayoutEffect, useRef } from "page/html";
import { icon } from "page/icons";
import { useScrolling } from "page/scrolling";
import { closeDialog } from "page/store";

/** @param {{label?: any, icon?: string, kbd?: string, kind?: "plain"|"primary"|"quiet"|"danger", onClick: (event: MouseEvent) => void,
 *   isDisabled?: boolean, title?: string, id?: string, type?: string, isPressed?: boolean}} props */
export function Button({ label, icon: name, kbd, kind = "plain", onClick, isDisabled, title, id, type = "button", isPressed }) {
  return html`<button id=${id} type=${type} class=${`button ${kind}`} onClick=${onClick} disabled=${isDisabled} title=${title} aria-pressed=${isPressed}>
    ${name ? icon(name) : null}<span>${label}</span>${kbd ? html`<kbd aria-hidden="true">${kbd}</kbd>` : null}
  </button>`;
}

/** @param {{label: string, icon: string, onClick: (event: MouseEvent) => void, kbd?: string, kind?: string, isDisabled?: boolean, isPressed?: boolean, id?: string}} props */
export function IconButton({ label, icon: name, onClick, kbd, kind = "plain", isDisabled, isPressed, id }) {
  const title = kbd ? `${label} (${kbd})` : label;
  return html`<button id=${id} type="button" class=${`button icon-only ${kind}`} aria-label=${label} title=${title} onClick=${onClick}
    disabled=${isDisabled} aria-pressed=${isPressed}>${icon(name)}</button>`;
}

/** @param {{label: any, isOn?: boolean, onClick?: () => void, onRemove?: () => void, title?: string}} props */
export function Chip({ label, isOn, onClick, onRemove, title }) {
  if (onRemove) {
    return html`<span class="chip token">${label}<button type="button" aria-label=${`Remove ${title ?? label}`} onClick=${onRemove}>${icon("close", 12)}</button></span>`;
  }
  return html`<button type="button" class=${`chip${isOn ? " is-on" : ""}`} aria-pressed=${isOn} onClick=${onClick} title=${title}>${label}</button>`;
}

/** @param {{label: string, value: string, of?: string, share?: number|null, state?: ""|"near"|"full", title?: string}} props */
export function Meter({ label, value, of, share = null, state = "", title }) {
  return html`<div class=${`meter ${state}`} title=${title}>
    <div class="meter-words"><span>${label}</span><b>${value}${of ? html`<i>/${of}</i>` : null}</b></div>
    <div class="meter-bar" aria-hidden="true"><div style=${{ width: `${Math.round(Math.min(1, share ?? 0) * 100)}%` }}></div></div>
  </div>`;
}

const focusable = "button:not([disabled]), [href], input:not([disabled]), select, textarea, [tabindex]:not([tabindex='-1'])";

/**
 * A dialog over the page: the focus stays in it, Escape closes it, and the focus goes back where it was.
 * @param {{title: string, children?: any, onClose?: () => void, width?: number, isBlurred?: boolean, footer?: any, onSubmit?: () => void, id?: string}} props
 */
export function Dialog({ title, children, onClose = closeDialog, width = 520, isBlurred = false, footer, onSubmit, id }) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const body = useRef(/** @type {HTMLElement|null} */ (null));
  const scrolling = useScrolling(body, title);
  useLayoutEffect(() => {
    const before = document.activeElement;
    const first = box.current?.querySelector("[data-first]") ?? box.current?.querySelector(focusable);
    if (first instanceof HTMLElement) first.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      onClose();
    }
    if (event.key !== "Tab" || !box.current) return;
    const inside = /** @type {HTMLElement[]} */ ([...box.current.querySelectorAll(focusable)]).filter((element) => element.offsetParent !== null);
    if (!inside.length) return;
    const edge = event.shiftKey ? inside[0] : inside[inside.length - 1];
    if (document.activeElement === edge) {
      event.preventDefault();
      inside[event.shiftKey ? inside.length - 1 : 0].focus();
    }
  };
  return html`<div class=${`veil${isBlurred ? " is-blurred" : ""}`} onMouseDown=${(/** @type {MouseEvent} */ event) => event.target === event.currentTarget && onClose()}>
    <div id=${id} ref=${box} class="dialog" role="dialog" aria-modal="true" aria-label=${title} style=${{ maxWidth: `${width}px` }} onKeyDown=${onKeyDown}>
      <form onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), onSubmit?.())}>
        <h2>${title}</h2>
        <div ref=${body} class="dialog-body" ...${scrolling}>${children}</div>
        ${footer ? html`<div class="dialog-foot">${footer}</div>` : null}
      </form>
    </div>
  </div>`;
}

/**
 * A menu at a point of the page. Arrow keys walk it.
 * @param {{label: string, x: number, y: number, items: {label: string, icon?: string, kbd?: string, isDanger?: boolean, run: () => void}[], onClose: () => void}} props
 */
export function Menu({ label, x, y, items, onClose }) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  useLayoutEffect(() => {
    const menu = box.current;
    if (!menu) return;
    const before = document.activeElement;
    menu.style.left = `${Math.max(8, Math.min(x, innerWidth - menu.offsetWidth - 8))}px`;
    menu.style.top = `${Math.max(8, Math.min(y, innerHeight - menu.offsetHeight - 8))}px`;
    /** @type {HTMLElement|null} */ (menu.querySelector("[role=menuitem]"))?.focus();
    return () => {
      if (before instanceof HTMLElement && document.contains(before)) before.focus();
    };
  }, [x, y]);
  useEffect(() => {
    /** @param {Event} event */
    const away = (event) => {
      if (!(event.target instanceof Node && box.current?.contains(event.target))) onClose();
    };
    addEventListener("pointerdown", away, true);
    return () => removeEventListener("pointerdown", away, true);
  }, [onClose]);
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    const all = /** @type {HTMLElement[]} */ ([...(box.current?.querySelectorAll("[role=menuitem]") ?? [])]);
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (next !== undefined) all[(next + all.length) % all.length]?.focus();
    else if (event.key === "Escape" || event.key === "Tab") onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  // The finger whose long press opened the menu is above it when it goes up: that chooses nothing.
  const isPressed = useRef(false);
  /** @param {MouseEvent} event @param {() => void} run */
  const choose = (event, run) => {
    if (event.detail > 0 && !isPressed.current) return;
    onClose();
    run();
  };
  return html`<div ref=${box} class="menu" role="menu" aria-label=${label} onKeyDown=${onKeyDown} onPointerDown=${() => (isPressed.current = true)}>
    ${items.map((item) => html`<button type="button" role="menuitem" tabindex="-1" class=${item.isDanger ? "danger" : ""} onClick=${(/** @type {MouseEvent} */ event) => choose(event, item.run)}>
      ${icon(item.icon ?? "arrow")}<span>${item.label}</span>${item.kbd ? html`<kbd aria-hidden="true">${item.kbd}</kbd>` : null}
    </button>`)}
  </div>`;
}

/** A field with its label. @param {{label: string, children?: any, hint?: any}} props */
export function Field({ label, children, hint }) {
  return html`<label class="field"><span>${label}</span>${children}${hint ? html`<small>${hint}</small>` : null}</label>`;
}

/** 31900 is 31.9k. @param {number} value */
export function short(value) {
  if (value < 1000) return String(value);
  if (value < 1_000_000) return `${trimmed(value / 1000)}k`;
  return `${trimmed(value / 1_000_000)}M`;
}

/** @param {number} value */
const trimmed = (value) => (value >= 100 ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, ""));

/** What something cost; "unknown" where nobody knows. @param {number|null|undefined} usd */
export function dollars(usd) {
  if (usd === null) return "unknown";
  if (!usd) return "$0";
  return usd < 0.01 ? `$${usd.toFixed(4)}` : usd < 10 ? `$${usd.toFixed(3)}` : `$${usd.toFixed(2)}`;
}

/** How long ago, in words. @param {string} when */
export function ago(when) {
  const minutes = Math.round((Date.now() - Date.parse(when)) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} h ago`;
  return new Date(when).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
}

/** Have the browser keep a text as a file. @param {string} name @param {Blob} blob */
export function download(name, blob) {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(blob);
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}
