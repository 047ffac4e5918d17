import { offset } from "./times";

const DAY = 86_400_000;

/**
 * The instant of a wall time such as "2026-11-16T09:00" in a zone, by the rule of the installation: a time that clocks leap
 * over is as much later as they leap, of a time that they repeat the first is meant.
 */
export function localInstant(wall: string, zone: string): Date {
  const asUtc = new Date(`${wall}Z`).getTime();
  const [before, after] = [offset(new Date(asUtc - DAY), zone), offset(new Date(asUtc + DAY), zone)];
  const [first, second] = [new Date(asUtc - before * 60_000), new Date(asUtc - after * 60_000)];
  // In a gap neither is right, and counting on by the old offset leaps with the clocks.
  return offset(first, zone) !== before && offset(second, zone) === after ? second : first;
}
