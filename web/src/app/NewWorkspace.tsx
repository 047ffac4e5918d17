// Another workspace, with accounts, posts and people of its own; whoever makes it owns it.
import { Alert, Autocomplete, Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";

import { api, take } from "../api/client";
import { meQuery, useMe } from "../api/me";
import { Problem } from "../api/problem";
import { tellDone } from "../ui/tell";
import { zones } from "../ui/zones";

export function NewWorkspace({ onClose }: { onClose: () => void }) {
  const me = useMe();
  const go = useNavigate();
  const queries = useQueryClient();
  const form = useForm({
    initialValues: { name: "", zone: me.zone },
    validate: { name: (name) => (name.trim() === "" ? "Give it a name." : null) },
  });
  const create = useMutation({
    mutationFn: ({ name, zone }: { name: string; zone: string }) => take(api.POST("/api/v1/workspaces", { body: { name: name.trim(), zone } })),
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: meQuery.queryKey }); // the list to choose from is part of oneself
      tellDone(`${made.name} is ready.`);
      onClose();
      await go(`/w/${made.id}`);
    },
    onError: (error) => {
      if (error instanceof Problem) form.setErrors(error.fields);
    },
  });
  return (
    <Modal opened onClose={onClose} title="New workspace">
      <form noValidate onSubmit={form.onSubmit((said) => create.mutate(said))}>
        <Stack>
          {create.error !== null && (
            <Alert role="alert" color="red" title="Not created">
              {create.error.message}
            </Alert>
          )}
          <Text size="sm">It has accounts, posts and people of its own. You own it.</Text>
          <TextInput label="Name" required data-autofocus maxLength={200} {...form.getInputProps("name")} />
          <Autocomplete label="Time zone" data={zones} limit={20} required {...form.getInputProps("zone")} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Create workspace
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
