import { Anchor, Button, Group, Modal, Stack, Table, Text } from "@mantine/core";
import { Link } from "react-router";

import { useWorkspaceId } from "../../api/me";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { StateBadge } from "../../ui/StateBadge";
import { momentThere, ownZone, placeOf } from "../../ui/times";
import { channelName, standing } from "../../ui/words";
import { mayMove } from "./events";
import { TimeFields, useTime } from "./TimeFields";
import type { Entry, Ghost, Time } from "./useCalendar";
import { t } from "../../messages/calendar";

/** One entry: what it says, when that is on every clock that matters, and another time for it. */
export function EntryDialog(props: {
  entry: Entry;
  zone: string;
  free: readonly Ghost[];
  mayEdit: boolean;
  busy: boolean;
  onPlan: (time: Time) => void;
  onClose: () => void;
}) {
  const { entry, zone } = props;
  const { pill } = entry;
  const workspaceId = useWorkspaceId();
  const choice = useTime(zone);
  const { time } = choice;
  const whose: [string, string][] = [
    [t("account"), pill.zone],
    [t("shownHere"), zone],
    [t("yours"), ownZone],
  ];
  const clocks = whose.filter(([, name], at) => whose.findIndex(([, other]) => other === name) === at);
  return (
    <Modal opened onClose={props.onClose} title={entry.title || t("post")}>
      <Stack>
        <Text size="sm" style={{ whiteSpace: "pre-wrap" }}>
          {entry.text}
        </Text>
        <Group gap="xs">
          <NetworkIcon of={pill.channel} />
          <Text size="sm">
            {pill.handle} · {channelName(pill.channel)}
          </Text>
          <StateBadge state={standing(pill)} />
          {mayMove(entry) && (
            <Text size="sm" c="dimmed">
              {entry.in_slot ? t("inAQueueSlot") : t("fixedTime")}
            </Text>
          )}
        </Group>
        {(pill.held?.message ?? pill.reason) && <Text size="sm">{pill.held?.message ?? pill.reason}</Text>}
        <Table>
          <Table.Tbody>
            {clocks.map(([words, name]) => (
              <Table.Tr key={name}>
                <Table.Th scope="row">
                  {words} ({placeOf(name)})
                </Table.Th>
                <Table.Td>{momentThere(pill.at, name)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        {props.mayEdit && mayMove(entry) && (
          <>
            <TimeFields choice={choice} accountId={pill.account_id} free={props.free} zone={zone} />
            <Group justify="space-between">
              <Anchor component={Link} to={`/w/${workspaceId}/compose/${pill.post_id}`}>
                {t("editPost")}
              </Anchor>
              <Button disabled={time === null} loading={props.busy} onClick={() => time !== null && props.onPlan(time)}>
                {t("move")}
              </Button>
            </Group>
          </>
        )}
      </Stack>
    </Modal>
  );
}
