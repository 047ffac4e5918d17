import { Skeleton, Stack } from "@mantine/core";
import { t } from "../messages/ui";

/** Something is on its way; its shape is kept, so that nothing jumps when it comes. */
export function Loading({ rows = 4 }: { rows?: number }) {
  return (
    <Stack role="status" aria-label={t("loading")} gap="sm" p="md">
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={row === 0 ? 32 : 56} radius="md" />
      ))}
    </Stack>
  );
}
