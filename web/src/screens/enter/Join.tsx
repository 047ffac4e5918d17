// An invitation: what it is to, and the way in for somebody new, somebody known, and somebody signed in.
import { Alert, Autocomplete, Button, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "react-router";

import { api, take, type Schemas } from "../../api/client";
import { meQuery } from "../../api/me";
import { Problem } from "../../api/problem";
import { Fetched } from "../../ui/Fetched";
import { roleWord } from "../../ui/roles";
import { zones } from "../../ui/zones";
import { Door } from "./Door";
import { useToken } from "./token";
import { t } from "../../messages/enter";

// The token waits here while one signs in: in an address that a server sees it would be no secret.
const KEPT = "cadenza.invitation";

export default function Join() {
  const given = useToken();
  const token = given === "" ? (sessionStorage.getItem(KEPT) ?? "") : given;
  const look = useQuery({
    queryKey: ["invitation", token],
    queryFn: () => take(api.POST("/api/v1/auth/invitations/look", { body: { token } })),
    enabled: token !== "",
    retry: false,
  });
  if (token === "") {
    return (
      <Door title={t("invitation")} message={t("thisLinkIsIncomplete")}>
        <Text role="alert">{t("openItFromTheEmailAgain")}</Text>
      </Door>
    );
  }
  if (look.error instanceof Problem && look.error.status !== 0) {
    return (
      <Door title={t("invitation")} message={t("itNoLongerWorks")}>
        <Alert color="red" role="alert">
          {look.error.message}
        </Alert>
      </Door>
    );
  }
  return (
    <Fetched query={look}>
      {(invitation) => (
        <Door
          title={t("joinWorkspace", { workspace: invitation.workspace })}
          message={t("emailIsInvitedAsRole", { email: invitation.email, role: roleWord(invitation.role).toLowerCase() })}
        >
          <WayIn token={token} invitation={invitation} />
        </Door>
      )}
    </Fetched>
  );
}

function WayIn({ token, invitation }: { token: string; invitation: Schemas["InvitationView"] }) {
  const me = useQuery(meQuery);
  if (me.isPending) return null;
  if (me.data !== undefined) return <AsOneself token={token} email={me.data.email} />;
  if (!invitation.known) return <AsNew token={token} />;
  return (
    <Stack>
      <Text>{t("youAlreadyHaveAnAccountHere")}</Text>
      <Button component={Link} to="/sign-in?next=%2Fjoin" onClick={() => sessionStorage.setItem(KEPT, token)}>
        {t("signIn")}
      </Button>
    </Stack>
  );
}

function useJoin(token: string) {
  const go = useNavigate();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (who: { name?: string; password?: string; zone?: string }) =>
      take(api.POST("/api/v1/auth/invitations/accept", { body: { zone: "UTC", ...who, token } })),
    onSuccess: async ({ workspace_id }) => {
      sessionStorage.removeItem(KEPT);
      queries.clear();
      await go(workspace_id === null || workspace_id === undefined ? "/" : `/w/${workspace_id}`, { replace: true });
    },
  });
}

function AsOneself({ token, email }: { token: string; email: string }) {
  const join = useJoin(token);
  return (
    <Stack>
      {join.error !== null && (
        <Alert color="red" role="alert">
          {join.error.message}
        </Alert>
      )}
      <Text size="sm">{t("youreSignedInAsEmail", { email })}</Text>
      <Button loading={join.isPending} onClick={() => join.mutate({})}>
        {t("join")}
      </Button>
    </Stack>
  );
}

function AsNew({ token }: { token: string }) {
  const join = useJoin(token);
  const form = useForm({
    initialValues: { name: "", password: "", zone: Intl.DateTimeFormat().resolvedOptions().timeZone },
  });
  return (
    <form
      onSubmit={form.onSubmit((values) =>
        join.mutate(values, { onError: (error) => error instanceof Problem && form.setErrors(error.fields) }),
      )}
    >
      <Stack>
        {join.error !== null && (
          <Alert color="red" role="alert">
            {join.error.message}
          </Alert>
        )}
        <TextInput label={t("yourName")} autoComplete="name" required autoFocus {...form.getInputProps("name")} />
        <PasswordInput
          label={t("password")}
          description={t("atLeast12CharactersAFew")}
          autoComplete="new-password"
          required
          {...form.getInputProps("password")}
        />
        <Autocomplete label={t("timeZone")} data={zones} limit={20} required {...form.getInputProps("zone")} />
        <Button type="submit" loading={join.isPending}>
          {t("join")}
        </Button>
      </Stack>
    </form>
  );
}
