import { Badge } from "@mantine/core";

import { stateWord } from "./words";

/** A state as a word; the colour only repeats it. */
export function StateBadge({ state }: { state: string }) {
  const { message, colour } = stateWord(state);
  return (
    <Badge variant="outline" fw={600} color={colour} style={{ flex: "none" }}>
      {message}
    </Badge>
  );
}
