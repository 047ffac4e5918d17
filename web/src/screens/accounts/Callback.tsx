// Where a network sends people back to: the code is handed on once, and the outcome is told.
import { Button, Loader, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, Navigate, useSearchParams } from "react-router";

import { Failed } from "../../ui/Failed";
import { Door } from "../enter/Door";
import { complete, workspaceOf } from "./useConnect";
import { t } from "../../messages/accounts";

export default function Callback() {
  const [search] = useSearchParams();
  const [state, code] = [search.get("state"), search.get("code")];
  const workspaceId = workspaceOf(state);
  const refused = search.get("error_description") ?? search.get("error");
  const done = useQuery({
    queryKey: ["connect", state],
    queryFn: () => complete(workspaceId ?? "", state ?? "", code ?? "", search.get("iss")),
    enabled: workspaceId !== null && state !== null && code !== null,
    retry: false, // a code is good once
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  const back = workspaceId === null ? "/" : `/w/${workspaceId}/accounts`;
  const wayBack = (
    <Button component={Link} to={back}>
      {t("backToAccounts")}
    </Button>
  );
  if (refused !== null || workspaceId === null || state === null || code === null)
    return (
      <Door title={t("couldntConnect")} message={refused === null ? t("nothingToDoHereThisPage") : t("theNetworkSaidRefused", { refused })}>
        {wayBack}
      </Door>
    );
  // The choice among what was brought is made beside the other accounts.
  if (done.data !== undefined) return <Navigate replace to={back} state={{ connection: done.data }} />;
  return (
    <Door title={t("connecting")} message={t("finishingUpDots")}>
      <Stack>
        {done.isPending && <Loader aria-label={t("connecting")} />}
        {done.isError && <Failed error={done.error} again={() => window.location.assign(back)} />}
        {!done.isPending && wayBack}
      </Stack>
    </Door>
  );
}
