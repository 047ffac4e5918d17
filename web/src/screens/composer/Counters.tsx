import { Group, Text } from "@mantine/core";

import { channelName } from "../../ui/words";
import type { Preview } from "./foresee";

const units: Record<string, string> = {
  graphemes: "letters as people see them",
  weighted: "weighted characters",
  bytes: "bytes",
};

/** How long the text is on each channel, in that network's own unit, hashtags and links counted as it does. */
export function Counters({ previews }: { previews: readonly Preview[] }) {
  const once = [...new Map(previews.map((each) => [`${each.channel} ${each.limit}`, each])).values()];
  if (once.length === 0) return null;
  return (
    <Group gap="md" role="status" aria-label="Lengths" mt={-8}>
      {once.map((each) => (
        <Counter key={`${each.channel} ${each.limit}`} name={channelName(each.channel)} {...each} />
      ))}
    </Group>
  );
}

export function Counter(props: { name: string; length: number; limit: number | null; unit: string }) {
  const over = props.limit !== null && props.length > props.limit;
  const unit = units[props.unit] ?? props.unit;
  return (
    <Text size="xs" fw={over ? 700 : undefined} c={over ? "var(--mantine-color-error)" : "dimmed"}>
      {props.name} {props.length}
      {props.limit !== null && ` of ${props.limit}`} {unit}
      {over && `: ${props.length - (props.limit ?? 0)} too many`}
    </Text>
  );
}
