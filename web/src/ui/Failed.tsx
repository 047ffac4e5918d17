import { Alert, Button, Stack } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { isRouteErrorResponse, Link, useRouteError } from "react-router";

import { Problem } from "../api/problem";

/** What went wrong, in the server's own words, and a way on. */
export function Failed({ error, again }: { error?: unknown; again?: () => void }) {
  const routed = useRouteError();
  const shown = error ?? routed;
  const lost = isLost(shown);
  const says = shown instanceof Error ? shown.message : lost ? "There is nothing at this address." : "Something unexpected happened on this page.";
  const title = lost ? "Not found" : shown instanceof Problem && shown.code === "offline" ? "You are offline" : "This did not work";
  return (
    <Stack p="md" maw={640}>
      <Alert role="alert" color="red" title={title} icon={<IconAlertTriangle aria-hidden />}>
        {says}
      </Alert>
      {lost ? (
        <Button w="fit-content" variant="default" component={Link} to="/">
          To the start
        </Button>
      ) : (
        <Button w="fit-content" variant="default" onClick={again ?? (() => window.location.reload())}>
          Try again
        </Button>
      )}
    </Stack>
  );
}

/** It is not there: to try again brings nobody on. */
const isLost = (error: unknown): boolean => (error instanceof Problem || isRouteErrorResponse(error)) && error.status === 404;
