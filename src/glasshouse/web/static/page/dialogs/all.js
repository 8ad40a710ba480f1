// @ts-check
/** Every dialog by its name. */
import { html } from "page/html";
import { Archive } from "page/dialogs/archive";
import { Branch } from "page/dialogs/branch";
import { Disturb } from "page/dialogs/disturb";
import { Finish } from "page/dialogs/finish";
import { Purse } from "page/dialogs/purse";
import { Share } from "page/dialogs/share";
import { Start } from "page/dialogs/start";
import { ChannelName, Connect, Disconnect, Grant, Spawn } from "page/dialogs/graph";
import { Help, Settings } from "page/dialogs/keys_and_settings";
import { Palette } from "page/palette/panel";

/** @type {{[name: string]: any}} */
export const dialogs = { spawn: Spawn, connect: Connect, disconnect: Disconnect, channel: ChannelName, grant: Grant, help: Help, palette: Palette, settings: Settings, start: Start, archive: Archive, disturb: Disturb, finish: Finish, branch: Branch, purse: Purse, share: Share };

/** The dialog of a name. @param {{name: string, args: object}} props */
export const AnyDialog = ({ name, args }) => html`<${dialogs[name]} ...${args} />`;
