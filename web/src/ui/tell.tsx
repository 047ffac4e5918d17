// Short words in the corner: what was done, with a way back; what was refused, with the reason.
import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";

/** Say what was done; `undo` adds the way back, and then the word stays longer. */
export function tellDone(message: string, undo?: () => unknown): void {
  if (undo === undefined) {
    notifications.show({ message, color: "teal", autoClose: 5000 });
    return;
  }
  const id = notifications.show({
    color: "teal",
    autoClose: 20_000,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button
          size="compact-sm"
          variant="light"
          onClick={() => {
            notifications.hide(id);
            undo();
          }}
        >
          Undo
        </Button>
      </Group>
    ),
  });
}

export function tellProblem(error: unknown, title = "Not done"): void {
  const message = error instanceof Error ? error.message : "Something unexpected happened.";
  notifications.show({ title, message, color: "red", autoClose: 10_000, role: "alert" });
}
