<b><% uc $m->content %></b>
