import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";

import { localInstant } from "../../ui/localInstant";
import { WallTimeInput } from "../../ui/WallTimeInput";
import { UNFINISHED } from "../../ui/wallTimes";

interface Asked {
  reason: string;
  until: string | null;
}

/** Why, and if it is known, until when. */
export function PauseDialog(props: { zone: string; handle: string; busy: boolean; onPause: (asked: Asked) => void; onClose: () => void }) {
  const form = useForm({
    initialValues: { reason: "", until: "" },
    validate: {
      reason: (said) => (said.trim() === "" ? "Say why: others will ask." : null),
      until: (said) => (said === UNFINISHED ? "Give a day and a time, as in 09:15." : said !== "" && localInstant(said, props.zone) <= new Date() ? "That is over already." : null),
    },
  });
  const done = ({ reason, until }: typeof form.values) =>
    props.onPause({ reason: reason.trim(), until: until === "" ? null : localInstant(until, props.zone).toISOString() });
  return (
    <Modal opened onClose={props.onClose} title={`Pause ${props.handle}`}>
      <form noValidate onSubmit={form.onSubmit(done)}>
        <Stack>
          <Text size="sm">Nothing of this account is sent while it is paused. What comes due meanwhile is kept, and you choose on resuming what becomes of it.</Text>
          <TextInput data-autofocus label="Reason" placeholder="Breaking news" withAsterisk maxLength={200} {...form.getInputProps("reason")} />
          <WallTimeInput label="Until" zone={props.zone} from={new Date()} description="Leave it empty to resume by hand" {...form.getInputProps("until")} />
          <Group justify="flex-end">
            <Button variant="default" onClick={props.onClose}>
              Leave it running
            </Button>
            <Button type="submit" loading={props.busy}>
              Pause
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
