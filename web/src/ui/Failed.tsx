import { Alert, Button, Stack } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useRouteError } from "react-router";

import { Problem } from "../api/problem";

/** What went wrong, in the server's own words, and a way on. */
export function Failed({ error, again }: { error?: unknown; again?: () => void }) {
  const routed = useRouteError();
  const shown = error ?? routed;
  const says = shown instanceof Error ? shown.message : "Something unexpected happened on this page.";
  const title = shown instanceof Problem && shown.code === "offline" ? "You are offline" : "This did not work";
  return (
    <Stack p="md" maw={640}>
      <Alert role="alert" color="red" title={title} icon={<IconAlertTriangle aria-hidden />}>
        {says}
      </Alert>
      <Button w="fit-content" variant="default" onClick={again ?? (() => window.location.reload())}>
        Try again
      </Button>
    </Stack>
  );
}
