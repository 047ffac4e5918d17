import { Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import { useState } from "react";

import { momentThere } from "../../ui/times";
import { words } from "./LineRow";
import { movable, nameOf, type Line, type QueueView } from "./order";
import { t } from "../../messages/queue";

/** Two posts change places: whom with, and when each goes out then. */
export function SwapDialog(props: { line: Line; view: QueueView; busy: boolean; onSwap: (ids: [string, string]) => void; onClose: () => void }) {
  const { line, view } = props;
  const [chosen, setChosen] = useState<string | null>(null);
  const others = movable(view).filter((each) => nameOf(each) !== nameOf(line));
  const other = others.find((each) => nameOf(each) === chosen);
  return (
    <Modal opened onClose={props.onClose} title={t("swapTwoPosts")}>
      <Stack>
        <Text size="sm">
          “{words(line)}”, {momentThere(line.at, view.zone)}
        </Text>
        <Select
          label={t("swapWith")}
          placeholder={t("chooseAPost")}
          data-autofocus
          searchable
          allowDeselect={false}
          value={chosen}
          onChange={setChosen}
          data={others.map((each) => ({ value: nameOf(each), label: `${momentThere(each.at, view.zone)}: ${words(each)}` }))}
        />
        {other !== undefined && (
          <Text size="sm" role="status">
            {t("swapEffect", { text: words(line), time: momentThere(other.at, view.zone), text2: words(other), time2: momentThere(line.at, view.zone) })}
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={props.onClose}>
            {t("cancel")}
          </Button>
          <Button disabled={other === undefined} loading={props.busy} onClick={() => other !== undefined && props.onSwap([nameOf(line), nameOf(other)])}>
            {t("swap")}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
