import { Alert, Button, Group, List, Text } from "@mantine/core";
import { IconClockX } from "@tabler/icons-react";

import { askFirst } from "../../ui/ask";
import { momentThere } from "../../ui/times";
import { useMissed, type useQueueActs } from "./useQueue";
import { t } from "../../messages/queue";

/** Posts that nothing sent in time, and one step to save them all. */
export function Missed(props: { accountId: string; zone: string; acts: ReturnType<typeof useQueueActs> | null }) {
  const missed = useMissed(props.accountId).data?.items ?? [];
  if (missed.length === 0) return null;
  const rescue = props.acts?.rescue;
  const askNow = async () => {
    const message = t("sendMissedEffect", { posts: missed.length });
    if (await askFirst({ title: t("sendMissedPostsNow"), message, yes: t("sendNowSpacedOut") })) rescue?.mutate({ choice: "send" });
  };
  return (
    <Alert color="orange" icon={<IconClockX aria-hidden />} title={t("postsMissed", { missed: missed.length })}>
      <List size="sm" mb="xs">
        {missed.slice(0, 5).map((each) => (
          <List.Item key={each.id}>
            {momentThere(each.due_at, props.zone)}: {String(each.content.text ?? "").slice(0, 80)}
            {each.reason !== null && (
              <Text span size="xs" c="dimmed">
                {" "}
                ({each.reason})
              </Text>
            )}
          </List.Item>
        ))}
      </List>
      {missed.length > 5 && <Text size="sm">{t("andMissedMore", { missed: missed.length - 5 })}</Text>}
      {rescue !== undefined && (
        <Group gap="xs" mt="xs">
          <Button size="xs" loading={rescue.isPending} onClick={() => rescue.mutate({ choice: "shift" })}>
            {t("moveToNextFreeSlots")}
          </Button>
          <Button size="xs" variant="default" disabled={rescue.isPending} onClick={() => void askNow()}>
            {t("sendNowSpacedOut")}
          </Button>
          <Button size="xs" variant="default" disabled={rescue.isPending} onClick={() => rescue.mutate({ choice: "draft" })}>
            {t("moveToDrafts")}
          </Button>
        </Group>
      )}
    </Alert>
  );
}
