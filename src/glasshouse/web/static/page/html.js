// @ts-check
/** `html`: templates whose texts are text nodes and nothing else; and what components are made of. */
import { Component, h, render, createContext } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState, useCallback } from "preact/hooks";
import htm from "htm";

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h);
export { Component, createContext, h, render, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState };

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
