// Short words in the corner: what was done, with a way back; what was refused, with the reason.
import { notifications } from "@mantine/notifications";

export function tellDone(message: string): void {
  notifications.show({ message, color: "teal", autoClose: 5000 });
}

export function tellProblem(error: unknown): void {
  const message = error instanceof Error ? error.message : "Something unexpected happened.";
  notifications.show({ title: "Not done", message, color: "red", autoClose: 10_000, role: "alert" });
}
