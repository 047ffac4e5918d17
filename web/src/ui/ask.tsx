// Asks before something that cannot be taken back; the answer is a promise.
import { Text } from "@mantine/core";
import { modals } from "@mantine/modals";
import type { ReactNode } from "react";
import { t } from "../messages/ui";

const DOUBLE_CLICK = 500; // milliseconds
let askedAt = -Infinity;

/** A second click before the question is drawn asks nothing more, and means no. */
export function askFirst(asked: { title: string; message: ReactNode; yes: string; no?: string; danger?: boolean }): Promise<boolean> {
  if (performance.now() - askedAt < DOUBLE_CLICK) return Promise.resolve(false);
  askedAt = performance.now();
  return new Promise((answer) => {
    const settle = (yes: boolean) => {
      askedAt = -Infinity;
      answer(yes);
    };
    modals.openConfirmModal({
      title: asked.title,
      children: (
        <Text component="div" size="sm">
          {asked.message}
        </Text>
      ),
      labels: { confirm: asked.yes, cancel: asked.no ?? t("cancel") },
      confirmProps: { color: asked.danger === true ? "red" : undefined },
      onConfirm: () => settle(true),
      onCancel: () => settle(false),
    });
  });
}
