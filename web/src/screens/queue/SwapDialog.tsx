import { Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import { useState } from "react";

import { moment } from "../../ui/times";
import { words } from "./LineRow";
import { movable, nameOf, type Line, type QueueView } from "./order";

/** Two posts change places: whom with, and when each goes out then. */
export function SwapDialog(props: { line: Line; view: QueueView; busy: boolean; onSwap: (ids: [string, string]) => void; onClose: () => void }) {
  const { line, view } = props;
  const [chosen, setChosen] = useState<string | null>(null);
  const others = movable(view).filter((each) => nameOf(each) !== nameOf(line));
  const other = others.find((each) => nameOf(each) === chosen);
  return (
    <Modal opened onClose={props.onClose} title="Swap two posts">
      <Stack>
        <Text size="sm">
          “{words(line)}”, {moment(line.at, view.zone)}
        </Text>
        <Select
          label="Swap with"
          placeholder="Choose a post"
          data-autofocus
          searchable
          allowDeselect={false}
          value={chosen}
          onChange={setChosen}
          data={others.map((each) => ({ value: nameOf(each), label: `${moment(each.at, view.zone)}: ${words(each)}` }))}
        />
        {other !== undefined && (
          <Text size="sm" role="status">
            “{words(line)}” then goes out {moment(other.at, view.zone)}, “{words(other)}” {moment(line.at, view.zone)}.
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={props.onClose}>
            Cancel
          </Button>
          <Button disabled={other === undefined} loading={props.busy} onClick={() => other !== undefined && props.onSwap([nameOf(line), nameOf(other)])}>
            Swap them
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
