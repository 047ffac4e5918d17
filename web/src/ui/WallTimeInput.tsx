// A day and a time as they stand on the clocks of a named zone: typed or picked, and never turned into the browser's.
import { TextInput, type TextInputProps } from "@mantine/core";

import { placeOf, wallTime } from "./times";

interface Props extends Omit<TextInputProps, "type" | "value" | "onChange" | "min" | "label"> {
  label: string;
  /** Whose clock it is on. */
  zone: string;
  /** "2026-11-16T09:00"; empty: none is chosen. */
  value?: string;
  onChange: (wall: string) => void;
  /** Earlier times are marked as wrong; what the server says about them counts. */
  from?: Date;
}

/** The browser's own field knows no zone, so nothing can be converted; `from` is compared on the same clock. */
export function WallTimeInput({ label, zone, value, onChange, from, ...rest }: Props) {
  return (
    <TextInput
      {...rest}
      type="datetime-local"
      label={`${label} (${placeOf(zone)} time)`}
      min={from === undefined ? undefined : wallTime(from, zone)}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
