// A day and a time as they stand on the clocks of a named zone: typed plainly, never turned into the browser's.
import { Group, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";

import { localDay, placeOf, wallTime } from "./times";
import { isWhole, joinWall, readTime } from "./wallTimes";
import { t } from "../messages/ui";

interface Props {
  label: string;
  /** Whose clock it is on. */
  zone: string;
  /** "2026-11-16T09:00"; empty: none is chosen; `UNFINISHED`: half of one. */
  value?: string;
  onChange: (wall: string) => void;
  /** Earlier times are marked as wrong, compared on the same clock; what the server says about them counts. */
  from?: Date;
  /** Begin with today's date there. */
  today?: boolean;
  description?: string;
  error?: string | null;
}

export function WallTimeInput({ label, zone, value = "", onChange, from, today = false, description, error = null }: Props) {
  const [day, setDay] = useState(() => (isWhole(value) ? value.slice(0, 10) : today ? localDay(from ?? new Date(), zone) : ""));
  const [typed, setTyped] = useState(isWhole(value) ? value.slice(11) : "");
  // Another field may have let go of the time, or set one.
  useEffect(() => {
    if (value === joinWall(day, typed, today)) return; // it came from here
    setTyped(isWhole(value) ? value.slice(11) : "");
    if (isWhole(value) || !today) setDay(isWhole(value) ? value.slice(0, 10) : "");
  }, [value]);
  const tell = (nextDay: string, nextTyped: string) => {
    setDay(nextDay);
    setTyped(nextTyped);
    const next = joinWall(nextDay, nextTyped, today);
    if (next !== value) onChange(next);
  };
  return (
    <Group align="flex-start" gap="xs" wrap="wrap">
      <TextInput type="date" label={t("labelDate", { label })} description={description} value={day} onChange={(event) => tell(event.currentTarget.value, typed)} />
      <TextInput
        label={t("labelTimeInPlace", { label, place: placeOf(zone) })}
        description={description === undefined ? undefined : t("timeExample")}
        placeholder="09:15"
        autoComplete="off"
        value={typed}
        error={error ?? wrong(day, typed, from, zone)}
        onChange={(event) => tell(day, event.currentTarget.value)}
        onBlur={() => setTyped(readTime(typed) ?? typed)}
      />
    </Group>
  );
}

function wrong(day: string, typed: string, from: Date | undefined, zone: string): string | null {
  if (typed.trim() === "") return null;
  if (readTime(typed) === null) return t("wrongTimeFormat");
  if (day === "") return t("chooseADateToo");
  return from !== undefined && joinWall(day, typed) < wallTime(from, zone) ? t("thatTimeHasPassedInPlace", { place: placeOf(zone) }) : null;
}
