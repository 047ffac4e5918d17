import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";

import { localInstant } from "../../ui/localInstant";
import { WallTimeInput } from "../../ui/WallTimeInput";
import { UNFINISHED } from "../../ui/wallTimes";
import { t } from "../../messages/queue";

interface Asked {
  reason: string;
  until: string | null;
}

/** Why, and if it is known, until when. */
export function PauseDialog(props: { zone: string; handle: string; busy: boolean; onPause: (asked: Asked) => void; onClose: () => void }) {
  const form = useForm({
    initialValues: { reason: "", until: "" },
    validate: {
      reason: (said) => (said.trim() === "" ? t("enterAReasonSoOthersKnow") : null),
      until: (said) => (said === UNFINISHED ? t("enterADateAndATime") : said !== "" && localInstant(said, props.zone) <= new Date() ? t("thatTimeHasPassed") : null),
    },
  });
  const done = ({ reason, until }: typeof form.values) =>
    props.onPause({ reason: reason.trim(), until: until === "" ? null : localInstant(until, props.zone).toISOString() });
  return (
    <Modal opened onClose={props.onClose} title={t("pauseHandle", { handle: props.handle })}>
      <form noValidate onSubmit={form.onSubmit(done)}>
        <Stack>
          <Text size="sm">{t("nothingIsSentFromThisAccount")}</Text>
          <TextInput data-autofocus label={t("reason")} placeholder={t("breakingNews")} withAsterisk maxLength={200} {...form.getInputProps("reason")} />
          <WallTimeInput label={t("until")} zone={props.zone} from={new Date()} description={t("leaveEmptyToResumeItYourself")} {...form.getInputProps("until")} />
          <Group justify="flex-end">
            <Button variant="default" onClick={props.onClose}>
              {t("cancel")}
            </Button>
            <Button type="submit" loading={props.busy}>
              {t("pause")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
