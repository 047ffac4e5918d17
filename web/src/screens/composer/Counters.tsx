import { Group, Text } from "@mantine/core";

import { channelName } from "../../ui/words";
import type { Preview } from "./foresee";
import { t } from "../../messages/composer";

const units: Record<string, string> = {
  graphemes: t("characters"),
  weighted: t("charactersWeighted"),
  bytes: t("bytes"),
};

/** How long the text is on each channel, in that network's own unit, hashtags and links counted as it does. */
export function Counters({ previews }: { previews: readonly Preview[] }) {
  const once = [...new Map(previews.map((each) => [`${each.channel} ${each.limit}`, each])).values()];
  if (once.length === 0) return null;
  return (
    <Group gap="md" role="status" aria-label={t("lengthLabel")} mt={-8}>
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
      {props.limit === null
        ? t("length", { name: props.name, length: props.length, unit })
        : t("lengthOfLimit", { name: props.name, length: props.length, limit: props.limit, unit, over: over ? props.length - props.limit : 0 })}
    </Text>
  );
}
