// Short words at the edge: what was done, with a way back; what was refused, with the reason.
import { Button, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconAlertTriangle, IconCheck } from "@tabler/icons-react";
import { t } from "../messages/ui";

const done = { color: "teal", icon: <IconCheck size={16} aria-hidden /> };
const refused = { color: "red", className: "refusal", icon: <IconAlertTriangle size={18} aria-hidden />, role: "alert" };

/** Say what was done; `undo` adds the way back, and then the word stays longer. */
export function tellDone(message: string, undo?: () => unknown): void {
  if (undo === undefined) {
    notifications.show({ ...done, message, autoClose: 5000 });
    return;
  }
  const id = notifications.show({
    ...done,
    autoClose: 20_000,
    message: (
      <Stack gap={6} align="flex-start">
        <Text size="sm">{message}</Text>
        <Button
          size="compact-sm"
          variant="light"
          onClick={() => {
            notifications.hide(id);
            undo();
          }}
        >
          {t("undo")}
        </Button>
      </Stack>
    ),
  });
}

export function tellProblem(error: unknown, title = t("thatDidntWork")): void {
  const message = error instanceof Error ? error.message : t("somethingWentWrong");
  notifications.show({ ...refused, title, message, autoClose: 10_000 });
}
