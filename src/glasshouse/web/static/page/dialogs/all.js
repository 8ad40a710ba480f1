// @ts-check
/** Every dialog by its name. */
import { Start } from "page/dialogs/start";
import { Help, Palette, Settings } from "page/dialogs/page";

/** @type {{[name: string]: any}} */
export const dialogs = { help: Help, palette: Palette, settings: Settings, start: Start };
