import { Anchor, Button, Group, Modal, Select, Stack, Table, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";

import { useWorkspaceId } from "../../api/me";
import { localInstant } from "../../ui/localInstant";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { StateBadge } from "../../ui/StateBadge";
import { moment, ownZone, placeOf } from "../../ui/times";
import { channelName } from "../../ui/words";
import { mayMove } from "./events";
import type { Entry, Ghost } from "./useCalendar";

/** One entry: what it says, when that is on every clock that matters, and another time for it. */
export function EntryDialog(props: {
  entry: Entry;
  zone: string;
  free: readonly Ghost[];
  mayEdit: boolean;
  busy: boolean;
  onPlan: (at: string, slot: boolean) => void;
  onClose: () => void;
}) {
  const { entry, zone } = props;
  const { pill } = entry;
  const workspaceId = useWorkspaceId();
  const [slot, setSlot] = useState<string | null>(null);
  const [wall, setWall] = useState("");
  const slots = props.free.filter((ghost) => ghost.account_id === pill.account_id && ghost.kind === "empty");
  const whose: [string, string][] = [
    ["Account", pill.zone],
    ["Shown here", zone],
    ["Yours", ownZone],
  ];
  const clocks = whose.filter(([, name], at) => whose.findIndex(([, other]) => other === name) === at);
  return (
    <Modal opened onClose={props.onClose} title={entry.title || "Post"}>
      <Stack>
        <Text size="sm" style={{ whiteSpace: "pre-wrap" }}>
          {entry.text}
        </Text>
        <Group gap="xs">
          <NetworkIcon of={pill.channel} />
          <Text size="sm">
            {pill.handle} · {channelName(pill.channel)}
          </Text>
          <StateBadge state={pill.held !== null ? "held" : pill.state} />
          {mayMove(entry) && (
            <Text size="sm" c="dimmed">
              {entry.in_slot ? "In a slot of the queue" : "Timed by hand"}
            </Text>
          )}
        </Group>
        {(pill.held?.says ?? pill.reason) && <Text size="sm">{pill.held?.says ?? pill.reason}</Text>}
        <Table>
          <Table.Tbody>
            {clocks.map(([words, name]) => (
              <Table.Tr key={name}>
                <Table.Th scope="row">
                  {words} ({placeOf(name)})
                </Table.Th>
                <Table.Td>{moment(pill.at, name)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        {props.mayEdit && mayMove(entry) && (
          <>
            <Select
              label="Move to a free slot"
              placeholder={slots.length === 0 ? "No free slot in these days" : "Choose"}
              searchable
              disabled={slots.length === 0}
              value={slot}
              onChange={setSlot}
              data={slots.map(({ at }) => ({ value: at, label: moment(at, zone) }))}
            />
            <TextInput type="datetime-local" label={`Or to a time of your own (${placeOf(zone)})`} value={wall} onChange={(event) => setWall(event.currentTarget.value)} />
            {wall !== "" && (
              <Text size="sm" role="status">
                Between slots it is timed by hand: the queue does not move it.
              </Text>
            )}
            <Group justify="space-between">
              <Anchor component={Link} to={`/w/${workspaceId}/compose/${pill.post_id}`}>
                Edit the post
              </Anchor>
              <Button
                disabled={slot === null && wall === ""}
                loading={props.busy}
                onClick={() => (wall === "" ? props.onPlan(slot ?? pill.at, true) : props.onPlan(localInstant(wall, zone).toISOString(), false))}
              >
                Move it
              </Button>
            </Group>
          </>
        )}
      </Stack>
    </Modal>
  );
}
