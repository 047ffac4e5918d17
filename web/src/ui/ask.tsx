// Asks before something that cannot be taken back; the answer is a promise.
import { Text } from "@mantine/core";
import { modals } from "@mantine/modals";
import type { ReactNode } from "react";

export function askFirst(asked: { title: string; says: ReactNode; yes: string; no?: string; danger?: boolean }): Promise<boolean> {
  return new Promise((answer) => {
    modals.openConfirmModal({
      title: asked.title,
      children: (
        <Text component="div" size="sm">
          {asked.says}
        </Text>
      ),
      labels: { confirm: asked.yes, cancel: asked.no ?? "Leave it" },
      confirmProps: { color: asked.danger === true ? "red" : undefined },
      onConfirm: () => answer(true),
      onCancel: () => answer(false),
    });
  });
}
