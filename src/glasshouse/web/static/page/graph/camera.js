// @ts-check
/** Which part of the world is seen. It follows what there is until somebody pans or zooms; Fit makes it follow again. */

/** @typedef {{left: number, top: number, right: number, bottom: number}} Box */

const scaleMax = 1.55;
const scaleMin = 0.03;
const zoomMax = 4;
const easePerFrame = 0.12;

export function makeCamera() {
  const camera = { scale: 1, x: 0, y: 0, isFree: false };
  let target = { scale: 1, x: 0, y: 0 };
  /** The part of the canvas that nothing covers. @type {Box} */
  let room = { left: 0, top: 0, right: 1, bottom: 1 };
  let middle = { x: 0, y: 0 };

  return {
    camera,
    /** @param {Box} box */
    setRoom(box) {
      room = box;
      middle = { x: (room.left + room.right) / 2, y: (room.top + room.bottom) / 2 };
    },
    /** Where a point of the world is on the canvas. @param {{x: number, y: number}} point */
    toCanvas(point) {
      return { x: (point.x - camera.x) * camera.scale + middle.x, y: (point.y - camera.y) * camera.scale + middle.y };
    },
    /** @param {{x: number, y: number}} point */
    toWorld(point) {
      return { x: (point.x - middle.x) / camera.scale + camera.x, y: (point.y - middle.y) / camera.scale + camera.y };
    },
    /** Whether a point of the world can be seen. @param {{x: number, y: number}} point */
    isInRoom(point) {
      const { x, y } = this.toCanvas(point);
      return x > room.left && x < room.right && y > room.top && y < room.bottom;
    },
    /** Aim at a part of the world. @param {Box} box */
    aim(box) {
      const [width, height] = [Math.max(1, box.right - box.left), Math.max(1, box.bottom - box.top)];
      const scale = Math.min((room.right - room.left) / width, (room.bottom - room.top) / height);
      target = { scale: Math.max(scaleMin, Math.min(scaleMax, scale)), x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
    },
    /** Move towards the aim; returns whether it is still on its way. @param {number} frames that have passed @param {boolean} isCut */
    ease(frames, isCut) {
      if (camera.isFree) return false;
      const share = isCut ? 1 : 1 - (1 - easePerFrame) ** frames;
      camera.scale += (target.scale - camera.scale) * share;
      camera.x += (target.x - camera.x) * share;
      camera.y += (target.y - camera.y) * share;
      const isFar = Math.abs(target.scale / camera.scale - 1) > 0.002 || Math.hypot(target.x - camera.x, target.y - camera.y) * camera.scale > 0.4;
      if (!isFar) Object.assign(camera, target);
      return isFar;
    },
    /** @param {number} dx @param {number} dy in pixels */
    pan(dx, dy) {
      camera.isFree = true;
      camera.x -= dx / camera.scale;
      camera.y -= dy / camera.scale;
    },
    /** @param {number} factor @param {{x: number, y: number}} [at] the point that stays where it is */
    zoom(factor, at = middle) {
      const fixed = this.toWorld(at);
      camera.isFree = true;
      camera.scale = Math.max(scaleMin, Math.min(zoomMax, camera.scale * factor));
      const moved = this.toWorld(at);
      camera.x += fixed.x - moved.x;
      camera.y += fixed.y - moved.y;
    },
    follow() {
      camera.isFree = false;
    },
  };
}
