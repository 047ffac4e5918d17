import { offset } from "./times";

/** The instant of a wall time such as "2026-11-16T09:00" in a zone; in a gap, as far behind it. */
export function localInstant(wall: string, zone: string): Date {
  const asUtc = new Date(`${wall}Z`).getTime();
  const guess = asUtc - offset(new Date(asUtc), zone) * 60_000;
  return new Date(asUtc - offset(new Date(guess), zone) * 60_000);
}
