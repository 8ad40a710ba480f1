// @ts-check
/** `html`: templates whose texts are text nodes and nothing else; and what components are made of. */
import { Component, h, render, createContext } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState, useCallback } from "preact/hooks";
import htm from "htm";

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h);
export { Component, createContext, h, render, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState };

// Chromium 150 forgets a change of class for what lies within an element that is moved before styles are computed: a card
// that opened and moved in one drawing kept the height of a closed one. Computing the style first loses nothing.
const move = Element.prototype.moveBefore;
if (move) {
  Element.prototype.moveBefore = function moveWithStyle(/** @type {Node} */ node, /** @type {Node|null} */ before) {
    if (node instanceof Element) void getComputedStyle(node).color;
    move.call(this, node, before);
  };
}

/**
 * A component that is drawn again only when one of its props is another object.
 * @template P
 * @param {(props: P) => any} draw
 * @returns {(props: P & {key?: string}) => any}
 */
export function memo(draw) {
  class Memo extends Component {
    /** @param {any} next */
    shouldComponentUpdate(next) {
      const before = /** @type {any} */ (this.props);
      for (const name in next) if (next[name] !== before[name]) return true;
      for (const name in before) if (!(name in next)) return true;
      return false;
    }

    /** @param {any} props */
    render(props) {
      return draw(props);
    }
  }
  return /** @type {any} */ (Memo);
}
