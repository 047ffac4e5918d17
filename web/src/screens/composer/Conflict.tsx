import { Button, Group, Modal, Paper, SimpleGrid, Stack, Text } from "@mantine/core";

import { useMe } from "../../api/me";
import { momentThere } from "../../ui/times";
import type { Content, Post } from "./content";
import { t } from "../../messages/composer";

/** Somebody saved meanwhile: both versions side by side, and a person decides. */
export function Conflict(props: { mine: Content; theirs: Post; onMine: () => void; onTheirs: () => void; onClose: () => void }) {
  const { zone } = useMe();
  return (
    <Modal opened onClose={props.onClose} title={t("someoneElseChangedThisPost")} size="xl">
      <Stack>
        <Text size="sm">{t("yourChangesWerentSavedCompareBoth")}</Text>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Version title={t("yours")} text={props.mine.text} parts={props.mine.parts} />
          <Version title={t("theirsSavedTime", { time: momentThere(props.theirs.updated_at, zone) })} text={props.theirs.text} parts={props.theirs.parts} />
        </SimpleGrid>
        <Group justify="flex-end">
          <Button variant="default" onClick={props.onTheirs}>
            {t("keepTheirs")}
          </Button>
          <Button onClick={props.onMine}>{t("keepMine")}</Button>
        </Group>
        <Text size="xs" c="dimmed" ta="right">
          {t("ifYouKeepYoursItReplaces")}
        </Text>
      </Stack>
    </Modal>
  );
}

function Version({ title, text, parts }: { title: string; text: string; parts: string[] }) {
  return (
    <Paper withBorder p="sm" component="section" aria-label={title}>
      <Text size="sm" fw={600} mb={4}>
        {title}
      </Text>
      {[text, ...parts].map((each, index) => (
        <Text key={index} size="sm" mb={4} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
          {each}
        </Text>
      ))}
    </Paper>
  );
}
