import { ColorSwatch, Group, Progress, Text } from "@mantine/core";

import { outcomes, progressWords, type Progress as Counts } from "./words";
import { t } from "../../messages/campaigns";

/** What became of the recipients, as one bar; the words beside it say the same. */
export function OutcomeBar({ progress, size = "lg" }: { progress: Counts; size?: string }) {
  const whole = Math.max(1, progress.total);
  return (
    <Progress.Root size={size} role="img" aria-label={progressWords(progress)}>
      {outcomes
        .filter(({ key }) => key !== "waiting" && progress[key] > 0)
        .map(({ key, colour }) => (
          <Progress.Section key={key} value={(100 * progress[key]) / whole} color={colour} aria-hidden />
        ))}
    </Progress.Root>
  );
}

/** The same in numbers: each can be chosen to see who they are. */
export function OutcomeNumbers({ progress }: { progress: Counts }) {
  return (
    <Group gap="lg" component="ul" p={0} m={0} style={{ listStyle: "none" }} aria-label={t("outcomes")}>
      {outcomes
        .filter(({ key }) => progress[key] > 0 || key === "sent" || key === "failed")
        .map(({ key, name, colour }) => (
          <Group key={key} component="li" gap={6} wrap="nowrap">
            <ColorSwatch size={10} withShadow={false} color={`var(--mantine-color-${colour.replace(".", "-")})`} />
            <Text size="sm">
              {name} <b>{progress[key].toLocaleString("en")}</b>
            </Text>
          </Group>
        ))}
    </Group>
  );
}
