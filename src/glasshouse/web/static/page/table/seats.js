// @ts-check
/**
 * Where everybody sits: an oval table in the middle of its room, the judge on top, a visitor's chair at the bottom, the others evenly
 * along its edge. All lengths are pixels of the room.
 *
 * Always holds: seats depend on who is there and on the room alone, never on what is said; but for a line that would not be whole, for
 * which the table makes room above or below.
 *
 * @typedef {import("page/graph/bubble_places").Box} Box
 * @typedef {{x: number, y: number}} Point
 * @typedef {{width: number, height: number}} Size
 * @typedef {{id: string, nameWidth: number, isJudge?: boolean, isVisitor?: boolean}} Member nameWidth: how wide its name is written
 * @typedef {{id: string, x: number, y: number, r: number, isUpper: boolean, face: Box, label: Box|null, plate: Point}} Seat
 * @typedef {{oval: {x: number, y: number, rx: number, ry: number}, seats: Seat[], room: Box, plateSize: {rx: number, ry: number}}} Layout
 * @typedef {{top: number, bottom: number}} Bands room that is kept free above and below everybody
 */

/** Between a bubble and the edge of the room. */
export const margin = 20;
export const faceRadius = 25;
/** The face of whoever speaks, and a visitor's chair, are so much larger. */
export const speakerExtra = 2;
/** Below everything: the legend. */
const legendPixels = 36;
const topPixels = 8;
/** The sketch of the table: half the axes of the line on which faces sit, in a room of this size; wider and narrower rooms change them. */
const sketch = { width: 692, a: 243, b: 150, bShare: 0.25, wider: 0.28 };
/** How far faces sit outside of the oval. */
const outside = { x: 47, y: 38 };
const halfAxisMin = { a: 70, b: 24 };
/** Plates stand so far inside of the oval's edge. */
const plateInside = { x: 46, y: 31, shareMax: 0.34 };
const labelPixels = 18;
/** A judge's label has a second line. */
const judgePixels = 18;
const labelGap = 3;
/** Below a visitor's chair is the button that takes it. */
const takePixels = { width: 132, height: 36 };
/** The tail of a fish reaches beyond its circle. */
const tailPixels = 6;
/** Seats nearer to each other than this show no names: they would cover each other. */
const namedSpacing = 78;
/** From this share of the upper half on, a name stands above its face: below it is the table. */
const topShare = 0.8;
/** How much of the free room is above the table; and where nobody sits at its lower side, whose bubbles would need the rest. */
const aboveShares = { usual: 0.45, upperOnly: 0.72 };
/** Whoever sits at the very side counts as upper. */
const upperFrom = -0.1;
const radiusMin = 8;
const arcSteps = 360;

/** Who sits where. @param {Member[]} members in the order in which they sit, clockwise @param {Size} size of the room @param {Bands} [bands] @returns {Layout} */
export function seatsIn(members, size, bands = { top: 0, bottom: 0 }) {
  const room = { left: margin, top: topPixels, right: size.width - margin, bottom: size.height - legendPixels };
  const a = Math.max(halfAxisMin.a, Math.min(size.width / 2 - margin - 46, sketch.a + Math.max(0, (size.width - sketch.width) * sketch.wider)));
  const height = room.bottom - room.top;
  const usual = Math.max(halfAxisMin.b, Math.min(sketch.b, Math.round(size.height * sketch.bShare)));
  const judge = members.find(({ isJudge }) => isJudge);
  const hasNames = perimeter(a, usual) >= namedSpacing * members.length;
  const above = hasNames ? labelGap + labelPixels + (judge ? judgePixels : 0) : 0;
  const below = hasNames ? labelGap + labelPixels + (members.some(({ isVisitor }) => isVisitor) ? takePixels.height : 0) : 0;
  const free = height - bands.top - bands.bottom - 2 * (faceRadius + speakerExtra) - above - below;
  const b = Math.max(halfAxisMin.b, Math.min(usual, free / 2));
  const middle = { x: size.width / 2, y: 0 };
  const angles = anglesOf(members, a, b);
  const spacing = perimeter(a, b) / Math.max(1, members.length);
  const r = Math.max(radiusMin, Math.min(faceRadius, nearest(angles.map(([, angle]) => angle), a, b) / 2 - 4));
  const isNamed = hasNames && spacing >= namedSpacing;
  // The middle is where everybody has most room, unless a band moves it.
  const topMost = Math.max(0, ...angles.map(([, angle]) => Math.cos(angle) * b)) + r + speakerExtra + (isNamed ? above : 0);
  const lowMost = Math.max(0, ...angles.map(([, angle]) => -Math.cos(angle) * b)) + r + speakerExtra + (isNamed ? below : 0);
  const [high, low] = [room.top + bands.top + topMost, room.bottom - bands.bottom - lowMost];
  const isUpperOnly = members.every((member) => member.isVisitor || angles.some(([other, angle]) => other === member && Math.cos(angle) > upperFrom));
  const aboveShare = isUpperOnly ? aboveShares.upperOnly : aboveShares.usual;
  const balanced = room.top + topMost + (height - topMost - lowMost) * aboveShare;
  const squeezed = bands.top >= bands.bottom ? Math.min(high, room.bottom - lowMost) : Math.max(low, room.top + topMost);
  middle.y = low < high ? squeezed : Math.max(high, Math.min(low, balanced));
  const oval = { ...middle, rx: Math.max(30, a - outside.x), ry: Math.max(14, b - outside.y) };
  const seats = angles.map(([member, angle]) => seatOf(member, angle, { middle, a, b, r, oval, isNamed, size, spacing }));
  return { oval, seats, room, plateSize: { rx: Math.min(17, r * 0.8), ry: Math.min(13, r * 0.6) } };
}

/**
 * @param {Member} member @param {number} angle clockwise from the top
 * @param {{middle: Point, a: number, b: number, r: number, oval: Layout["oval"], isNamed: boolean, size: Size, spacing: number}} table
 * @returns {Seat}
 */
function seatOf(member, angle, { middle, a, b, r, oval, isNamed, size, spacing }) {
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  const x = middle.x + sin * a;
  const y = middle.y - cos * b;
  const far = r + speakerExtra;
  const face = { left: x - far, right: x + far + tailPixels, top: y - far, bottom: y + far };
  const plate = { x: oval.x + sin * (oval.rx - Math.min(plateInside.x, oval.rx * plateInside.shareMax)), y: oval.y - cos * (oval.ry - Math.min(plateInside.y, oval.ry * plateInside.shareMax)) };
  const height = labelPixels + (member.isJudge ? judgePixels : 0) + (member.isVisitor ? takePixels.height : 0);
  const isAbove = cos > topShare;
  const widest = Math.abs(sin) < 0.7 ? spacing - 6 : 2 * Math.min(x - 4, size.width - x - 4);
  const width = Math.min(Math.max(member.nameWidth, member.isJudge ? 60 : 0, member.isVisitor ? takePixels.width : 0), Math.max(2 * far, widest));
  const top = isAbove ? face.top - labelGap - height : face.bottom + labelGap;
  const label = isNamed ? { left: x - width / 2, right: x + width / 2, top, bottom: top + height } : null;
  return { id: member.id, x, y, r, isUpper: cos > upperFrom, face, label, plate };
}

/**
 * The angles of the seats, clockwise from the top: the judge on top, the visitor at the bottom, the others evenly along the edge.
 * @param {Member[]} members @param {number} a @param {number} b @returns {[Member, number][]}
 */
function anglesOf(members, a, b) {
  const judge = members.find(({ isJudge }) => isJudge);
  const visitor = members.find((member) => member.isVisitor && member !== judge);
  const others = members.filter((member) => member !== judge && member !== visitor);
  /** @type {[Member, number][]} */
  const angles = [];
  if (judge) angles.push([judge, 0]);
  // Nobody sits at the bottom but a visitor, or the last of an odd number: an even number of creatures face each other.
  const count = others.length;
  const first = judge ? 1 : 0.5;
  const last = judge ? 1 : visitor ? 0.5 : 0;
  if (visitor || count % 2 === 0) {
    const half = Math.ceil(count / 2);
    others.forEach((member, at) => {
      const isRight = at < half;
      const share = ((isRight ? at : count - at - 1) + first) / ((isRight ? half : count - half) + last);
      angles.push([member, angleAt(isRight ? share / 2 : 1 - share / 2, a, b)]);
    });
    if (visitor) angles.push([visitor, Math.PI]);
  } else others.forEach((member, at) => angles.push([member, angleAt((at + (judge ? 1 : 0)) / (count + (judge ? 1 : 0)), a, b)]));
  return angles.sort(([, one], [, other]) => one - other);
}

/** The angle at a share of the way round an ellipse. @param {number} share @param {number} a @param {number} b */
function angleAt(share, a, b) {
  const whole = perimeter(a, b) * share;
  let [gone, angle] = [0, 0];
  const step = (Math.PI * 2) / arcSteps;
  while (gone < whole && angle < Math.PI * 2) {
    gone += Math.hypot(Math.cos(angle + step / 2) * a, Math.sin(angle + step / 2) * b) * step;
    angle += step;
  }
  return angle - (gone > whole ? step * 0.5 : 0);
}

/** How far apart the two nearest seats are. @param {number[]} angles @param {number} a @param {number} b */
function nearest(angles, a, b) {
  let least = Infinity;
  for (const [at, angle] of angles.entries()) {
    for (const other of angles.slice(at + 1)) least = Math.min(least, Math.hypot((Math.sin(other) - Math.sin(angle)) * a, (Math.cos(other) - Math.cos(angle)) * b));
  }
  return least;
}

/** @param {number} a @param {number} b */
const perimeter = (a, b) => Math.PI * (3 * (a + b) - Math.sqrt((3 * a + b) * (a + 3 * b)));
