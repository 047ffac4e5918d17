import { Alert, Button, Group, List, Text } from "@mantine/core";
import { IconClockX } from "@tabler/icons-react";

import { askFirst } from "../../ui/ask";
import { moment } from "../../ui/times";
import { count } from "../../ui/words";
import { useMissed, type useQueueActs } from "./useQueue";

/** Posts that nothing sent in time, and one step to save them all. */
export function Missed(props: { accountId: string; zone: string; acts: ReturnType<typeof useQueueActs> | null }) {
  const missed = useMissed(props.accountId).data?.items ?? [];
  if (missed.length === 0) return null;
  const rescue = props.acts?.rescue;
  const askNow = async () => {
    const says = `${count(missed.length, "post")} ${missed.length === 1 ? "goes" : "go"} out from now on, one after the other. This cannot be taken back.`;
    if (await askFirst({ title: "Send what was missed now?", says, yes: "Send now, spaced" })) rescue?.mutate({ choice: "now" });
  };
  return (
    <Alert color="orange" icon={<IconClockX aria-hidden />} title={`${count(missed.length, "post")} missed`}>
      <List size="sm" mb="xs">
        {missed.slice(0, 5).map((each) => (
          <List.Item key={each.id}>
            {moment(each.due_at, props.zone)}: {String(each.content.text ?? "").slice(0, 80)}
            {each.reason !== null && (
              <Text span size="xs" c="dimmed">
                {" "}
                ({each.reason})
              </Text>
            )}
          </List.Item>
        ))}
      </List>
      {missed.length > 5 && <Text size="sm">and {missed.length - 5} more</Text>}
      {rescue !== undefined && (
        <Group gap="xs" mt="xs">
          <Button size="xs" loading={rescue.isPending} onClick={() => rescue.mutate({ choice: "next_slot" })}>
            Give them the next slots
          </Button>
          <Button size="xs" variant="default" disabled={rescue.isPending} onClick={() => void askNow()}>
            Send now, spaced
          </Button>
          <Button size="xs" variant="default" disabled={rescue.isPending} onClick={() => rescue.mutate({ choice: "draft" })}>
            Back to drafts
          </Button>
        </Group>
      )}
    </Alert>
  );
}
